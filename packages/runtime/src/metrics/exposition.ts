import type { IncomingMessage, ServerResponse } from 'node:http'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { bindMeter } from './instruments.ts'

export interface Exposition {
  /** Answers a request with all metrics of the process in the text format of Prometheus. */
  write(req: IncomingMessage, res: ServerResponse): void
  /** Stops: instruments record nothing from then on. */
  stop(): Promise<void>
}

/** Starts to record the declared metrics of this process; each series gets the label `component`. */
export function startMetrics(component: string): Exposition {
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    withoutTargetInfo: true,
    withResourceConstantLabels: /^component$/,
  })
  const resource = resourceFromAttributes({ component })
  const provider = new MeterProvider({ resource, readers: [exporter] })
  bindMeter(provider.getMeter('windlass'))
  return {
    write: (req, res) => exporter.getMetricsRequestHandler(req, res),
    async stop() {
      bindMeter(undefined)
      await provider.shutdown()
    },
  }
}
