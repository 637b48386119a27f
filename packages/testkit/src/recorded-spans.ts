import {
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { bindTracer } from '@windlass/runtime/tracing/tracing'
import { onTestFinished } from 'vitest'

/** Traces this process until the test ends, `ratio` of what begins a trace; answers the spans that have ended. */
export function recordSpans(ratio = 1): () => ReadableSpan[] {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  bindTracer(provider.getTracer('test'))
  onTestFinished(() => bindTracer(undefined))
  return () => exporter.getFinishedSpans()
}
