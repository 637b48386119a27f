/** What a tick does while the execution of an earlier one of its schedule runs. */
export const OVERLAPS = ['allow', 'skip', 'queue', 'cancel_previous'] as const
export type Overlap = (typeof OVERLAPS)[number]

export const isOverlap = (value: unknown): value is Overlap =>
  (OVERLAPS as readonly unknown[]).includes(value)
