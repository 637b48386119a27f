import type { Tracer } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { spansExported } from '../metrics/metrics.ts'
import type { Logger } from '../process/log.ts'
import { takeChosenSpanId } from './tracing.ts'

/** Spans that wait for the receiver; more are dropped. */
const MAX_QUEUE_SIZE = 8_192
const EXPORT_INTERVAL_MS = 1_000
const EXPORT_TIMEOUT_MS = 5_000

export interface OtlpOptions {
  otlp_endpoint: string
  otlp_headers: readonly string[]
  sample_ratio: number
}

export interface SpanPipeline {
  tracer: Tracer
  /** Sends the spans that are left, for at most EXPORT_TIMEOUT_MS. */
  stop(): Promise<void>
}

/** Creates a tracer whose spans are sent by OTLP/HTTP, as protobuf. */
export function createTracing(options: OtlpOptions, component: string, log: Logger): SpanPipeline {
  const exporter = new OTLPTraceExporter({
    url: `${options.otlp_endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: Object.fromEntries(options.otlp_headers.map(toHeader)),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  })
  const processor = new BatchSpanProcessor(new ReportingExporter(exporter, log), {
    maxQueueSize: MAX_QUEUE_SIZE,
    scheduledDelayMillis: EXPORT_INTERVAL_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  })
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': component === 'all' ? 'windlass' : `windlass-${component}`,
      'process.pid': process.pid,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sample_ratio) }),
    spanProcessors: [processor],
    idGenerator: new ChosenIds(),
  })
  return {
    tracer: provider.getTracer('windlass'),
    async stop() {
      await provider.shutdown()
    },
  }
}

function toHeader(text: string): [string, string] {
  const equals = text.indexOf('=')
  return [text.slice(0, equals), text.slice(equals + 1)]
}

/** Random ids, except for spans whose id is known in advance. */
class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator()

  generateTraceId(): string {
    return this.#random.generateTraceId()
  }

  generateSpanId(): string {
    return takeChosenSpanId() ?? this.#random.generateSpanId()
  }
}

/** Counts exported spans, and logs when exports begin to fail and when they succeed again. */
class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #log: Logger
  #isFailing = false

  constructor(exporter: SpanExporter, log: Logger) {
    this.#exporter = exporter
    this.#log = log
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      const isFailed = result.code !== ExportResultCode.SUCCESS
      spansExported.add(spans.length, { outcome: isFailed ? 'failed' : 'ok' })
      if (isFailed && !this.#isFailing)
        this.#log.warn({ err: result.error }, 'failed to export spans; they are dropped')
      if (!isFailed && this.#isFailing) this.#log.info('spans are exported again')
      this.#isFailing = isFailed
      done(result)
    })
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.()
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }
}
