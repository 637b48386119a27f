import { z } from 'zod'
import { expecting } from './expectations.ts'
import { address, flag, list, number, table } from './setting-types.ts'

const EXPECTED = 'a number from 0 to 1'

/** Traces (docs/tracing.md). Off by default. */
export const telemetry = table({
  /** Base URL of an OTLP/HTTP receiver, without `/v1/traces`; unset: no traces. */
  otlp_endpoint: address.optional(),
  /** `name=value` of headers for the receiver, such as a credential. */
  otlp_headers: list
    .pipe(z.array(z.string().regex(/^[\w-]+=.+$/, 'must be NAME=VALUE')))
    .default([]),
  /** Part of the requests without a `traceparent` that are traced. */
  sample_ratio: expecting(EXPECTED, number.pipe(z.number().min(0).max(1))).default(1),
  /** False: the `traceparent` of clients is ignored. Those of workers are always used. */
  accept_client_context: flag.default(true),
})
