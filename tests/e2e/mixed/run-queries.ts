import type { RecordedCall, Run } from './history.ts'

/** Calls of one kind. */
export type CallOf<What extends RecordedCall['what']> = Extract<RecordedCall, { what: What }>

export const callsOf = <What extends RecordedCall['what']>({ ops }: Run, ...what: What[]) =>
  ops.filter((op) => (what as string[]).includes(op.what)) as CallOf<What>[]

export function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}
