import type { Settings } from '../config/settings.ts'
import type { Logger } from '../process/log.ts'
import type { Teardown } from '../process/teardown.ts'
import { bindTracer } from './tracing.ts'

/**
 * Starts to trace this process if `[svc.telemetry].otlp_endpoint` is set. The SDK is loaded only then.
 * The teardown sends what is left.
 */
export async function startTracing(
  { telemetry }: Settings,
  component: string,
  { log, teardown }: { log: Logger; teardown: Teardown },
): Promise<void> {
  const { otlp_endpoint } = telemetry
  if (otlp_endpoint === undefined) return
  const { createTracing } = await import('./otlp.ts')
  const { tracer, stop } = createTracing({ ...telemetry, otlp_endpoint }, component, log)
  bindTracer(tracer)
  teardown.add('tracing', async () => {
    bindTracer(undefined)
    await stop()
  })
}
