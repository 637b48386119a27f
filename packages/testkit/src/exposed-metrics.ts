import type { IncomingMessage, ServerResponse } from 'node:http'
import { startMetrics } from '@windlass/runtime/metrics/exposition'
import { withTest } from './defer.ts'

/**
 * Records the metrics of this process until the test ends. Answers the value of the first series whose line begins
 * with a text, such as `windlass_problems{problem="clock"`; NaN without one.
 */
export function exposeMetrics(): (series: string) => Promise<number> {
  const metrics = startMetrics('test')
  withTest(() => metrics.stop())
  return async (series) => {
    const text = await new Promise<string>((end) => {
      const response = { setHeader() {}, end } as unknown as ServerResponse
      metrics.write({} as IncomingMessage, response)
    })
    const line = text.split('\n').find((each) => each.startsWith(series))
    return Number(line?.slice(line.lastIndexOf(' ')))
  }
}
