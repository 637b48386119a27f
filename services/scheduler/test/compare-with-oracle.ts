import { expect } from 'vitest'
import { compileCron } from '../src/domain/cron.ts'
import { listTicksByBruteForce } from './cron-oracle.ts'

/** Compares all ticks between two times with the oracle; returns their number. */
export function compareWithOracle(
  expression: string,
  timezone: string,
  from: Date,
  to: Date,
): number {
  const cron = compileCron(expression, timezone)
  const ours: number[] = []
  for (let tick = cron.nextRun(from); tick && tick < to; tick = cron.nextRun(tick))
    ours.push(tick.getTime())
  const expected = listTicksByBruteForce(expression, timezone, from, to)
  const i = expected.findIndex((tick, at) => tick !== ours[at])
  const around = (ticks: number[]) =>
    ticks.slice(Math.max(0, i - 1), i + 3).map((tick) => new Date(tick).toISOString())
  if (i >= 0) expect(around(ours), `${expression} ${timezone}`).toEqual(around(expected))
  expect(ours.length, `${expression} ${timezone}`).toBe(expected.length)
  return expected.length
}
