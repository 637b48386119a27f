import { permits } from '../format/permits.ts'
import { useMe } from './me.ts'

/**
 * Returns a function that names the permission which the caller lacks, or returns undefined if the caller has it.
 * While the permissions are not known, every action is offered and the server decides.
 */
export function useRefusals(): (needed: string) => string | undefined {
  const { data } = useMe()
  return (needed) =>
    !data || data.permissions.some((granted) => permits(granted, needed))
      ? undefined
      : `You need the permission ${needed}`
}

/** Returns the permission that the caller lacks for an action, or undefined if it has it. */
export const useRefusal = (needed: string): string | undefined => useRefusals()(needed)

interface OfWorkflow {
  workflow_namespace: string
  workflow_name: string
}

/** The permission that every action on an execution needs. */
export const runPermission = ({ workflow_namespace, workflow_name }: OfWorkflow): string =>
  `workflow:${workflow_namespace}:${workflow_name}:run`
