import type { Visibility as Message } from '@windlass/proto/windlass/access/v1/visibility'

/** A workflow; `*` stands for every namespace or name. */
export interface WorkflowScope {
  namespace: string
  name: string
}

/**
 * Objects that a caller may see in lists and totals: those of some workflows, and those with some ids.
 * Neither an empty list nor an absent value means all objects.
 */
export type Visibility =
  | { kind: 'all' }
  | { kind: 'only'; workflows: readonly WorkflowScope[]; ids: readonly string[] }

/**
 * Reads the visibility of a list request. Only gateways of earlier releases omit it, and they send no list
 * request for a caller that may not see everything.
 */
export function readVisibility(message: Message | undefined): Visibility {
  if (!message || message.all) return { kind: 'all' }
  return { kind: 'only', workflows: message.workflows, ids: message.ids }
}

export const toVisibilityMessage = (visible: Visibility): Message =>
  visible.kind === 'all'
    ? { all: true, workflows: [], ids: [] }
    : { all: false, workflows: [...visible.workflows], ids: [...visible.ids] }
