import { expect, test } from 'vitest'

const { simulate } = await import('../../bench/capacity/simulate.mjs' as string)

const stations = { gateway: 2, executions: 2, dispatcher: 2, postgres: 2 }
const cost = { gateway: 0.3, executions: 0.4, dispatcher: 0.1, commit: 0.8, command: 0.1 }

test('capacity simulation at half load: each service is used as much as its visits cost', () => {
  const { utilization } = simulate({ rate: 1_000, stations, cost, executions: 5_000 })
  // Three visits of the gateway, two of executions, one of the dispatcher; two processors each.
  expect(utilization.gateway).toBeCloseTo(0.45, 1)
  expect(utilization.executions).toBeCloseTo(0.4, 1)
  expect(utilization.dispatcher).toBeCloseTo(0.05, 1)
})

test('capacity simulation at a higher rate: batches grow, so commits per execution fall', () => {
  const low = simulate({ rate: 1, stations, cost, executions: 2_000 })
  const high = simulate({ rate: 1_500, stations, cost, executions: 5_000 })
  expect(low.commits).toBeCloseTo(2, 1)
  expect(high.commits).toBeLessThan(1.5)
})

test('capacity simulation beyond what a service can do: latencies grow with time', () => {
  const { latencies, utilization } = simulate({ rate: 4_000, stations, cost, executions: 5_000 })
  expect(utilization.gateway).toBeGreaterThan(0.95)
  expect(latencies.at(-1)).toBeGreaterThan(2 * latencies[0])
})
