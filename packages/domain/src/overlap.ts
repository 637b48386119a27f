/** Policies for a tick whose schedule still has an earlier execution running. */
export const OVERLAP_POLICIES = ['allow', 'skip', 'queue', 'cancel_previous'] as const
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number]

export const isOverlapPolicy = (value: unknown): value is OverlapPolicy =>
  (OVERLAP_POLICIES as readonly unknown[]).includes(value)
