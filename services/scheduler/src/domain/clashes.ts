const MAX_CLASHES = 100
const MAX_NAMED = 20

export interface ForecastTick {
  at: Date
  schedule_id: string
  /** `namespace/name` */
  workflow: string
}

/** A time at which several schedules fire. */
export interface Clash {
  at: Date
  count: number
  schedule_ids: string[]
  /** Workflows that more than one of these schedules starts. */
  workflows: string[]
}

/** Times at which more than one schedule fires, the largest clash first. */
export function findClashes(ticks: readonly ForecastTick[]): Clash[] {
  const moments = new Map<number, ForecastTick[]>()
  for (const tick of ticks) {
    const together = moments.get(tick.at.getTime())
    if (together) together.push(tick)
    else moments.set(tick.at.getTime(), [tick])
  }
  return [...moments.values()]
    .filter((together) => together.length > 1)
    .sort((a, b) => b.length - a.length || Number(a[0]?.at) - Number(b[0]?.at))
    .slice(0, MAX_CLASHES)
    .map((together) => ({
      at: (together[0] as ForecastTick).at,
      count: together.length,
      schedule_ids: together.slice(0, MAX_NAMED).map(({ schedule_id }) => schedule_id),
      workflows: repeated(together.map(({ workflow }) => workflow)).slice(0, MAX_NAMED),
    }))
}

const repeated = (names: readonly string[]) => [
  ...new Set(names.filter((name, i) => names.indexOf(name) !== i)),
]
