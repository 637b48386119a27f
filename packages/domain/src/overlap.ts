/** What a tick does while the execution of an earlier one of its schedule runs. */
export const OVERLAP_POLICIES = ['allow', 'skip', 'queue', 'cancel_previous'] as const
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number]

export const isOverlapPolicy = (value: unknown): value is OverlapPolicy =>
  (OVERLAP_POLICIES as readonly unknown[]).includes(value)
