import { permits } from '../format/permits.ts'
import { useMe } from './me.ts'

/**
 * Returns the permission that the caller lacks for an action, or undefined if it has all of them. While the
 * permissions are not known, the action is offered and the server decides.
 */
export function useRefusal(needed: string): string | undefined {
  const { data } = useMe()
  if (!data || data.permissions.some((granted) => permits(granted, needed))) return undefined
  return `You need the permission ${needed}`
}
