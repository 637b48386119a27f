import type { BodyParser } from './body-parser.ts'
import type { SizeLimit } from './body-task.ts'

export interface BodyLimits {
  /** Maximum size of a payload: an input, an output, the value of an event, secret or config. */
  maxBytes: number
  maxDepth: number
  maxUploadBytes: number
  parser: BodyParser
}

/**
 * Size class of a JSON body. Only routes whose body holds a payload accept more than a page of
 * members; a worker's report holds several payloads.
 */
export type BodySize = 'control' | 'names' | 'inventory' | 'payload' | 'report'

const KIBIBYTE = 1_024
const MEBIBYTE = 1_048_576
/** Allowance for the members around the payloads in a worker's report. */
const WRAPPING_LEVELS = 16
const WRAPPING_BYTES = MEBIBYTE
/** Input, output and the events that repeat them. */
const PAYLOADS = 4

const PARSED = {
  control: { maxBytes: 64 * KIBIBYTE, maxValues: 5_000 },
  names: { maxBytes: 256 * KIBIBYTE, maxValues: 20_000 },
  /** The registration of a worker, with up to 10,000 packages of two members. */
  inventory: { maxBytes: MEBIBYTE, maxValues: 60_000 },
}

/** Resolves a size class under the configured limits; no class accepts more than a payload may have. */
export function sizeLimit(
  size: BodySize,
  { maxBytes, maxDepth }: Pick<BodyLimits, 'maxBytes' | 'maxDepth'>,
): SizeLimit {
  const payload = { maxBytes, maxDepth, maxValues: Number.POSITIVE_INFINITY }
  if (size === 'payload') return payload
  if (size === 'report')
    return {
      ...payload,
      maxBytes: PAYLOADS * maxBytes + WRAPPING_BYTES,
      maxDepth: maxDepth + WRAPPING_LEVELS,
    }
  const parsed = PARSED[size]
  return { maxDepth, ...parsed, maxBytes: Math.min(parsed.maxBytes, maxBytes) }
}

/** Limits of a gateway with default settings, for the documents. */
export const DEFAULT_BODY_BYTES = { payload: 16 * MEBIBYTE, upload: MEBIBYTE }

/** Largest body of a size class with default settings. */
export const maxBodyBytes = (size: BodySize): number =>
  sizeLimit(size, { maxBytes: DEFAULT_BODY_BYTES.payload, maxDepth: 0 }).maxBytes
