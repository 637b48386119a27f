import type { Answer } from '../api/use-query.ts'
import { refusalOf } from './feedback.tsx'

interface Reasons {
  /** The permission that the caller lacks to read the choices, if so. */
  refusal: string | undefined
  /** Text for a caller who may read them while there are none. */
  empty: string
}

/** Why nothing can be chosen, or undefined: a list without choices does not say it. */
export function choiceProblem(
  { data, error }: Pick<Answer<readonly unknown[]>, 'data' | 'error'>,
  { refusal, empty }: Reasons,
): string | undefined {
  if (data && data.length > 0) return undefined
  if (refusal) return refusal
  if (data) return empty
  return error && refusalOf(error)
}
