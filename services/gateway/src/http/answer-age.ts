import { z } from 'zod'
import type { RequestContext } from './request-context.ts'

/** Header of a request whose answer is shared, for the documents. */
export const ageHeaders = {
  'Cache-Control': z
    .string()
    .optional()
    .meta({
      description:
        '`max-age=<seconds>`: the answer may be that of an earlier request by a caller with equal rights, at most 10 s old; `Age` says how old it is.',
      examples: ['max-age=3'],
    }),
}

const MAX_AGE = /(?:^|,)\s*max-age\s*=\s*(\d{1,9})\s*(?:,|$)/i

/** Milliseconds that the answer to a request may be old, by its `Cache-Control: max-age` (RFC 9111, 5.2.1.1); 0 without it. */
export function acceptedAgeMs(ctx: Pick<RequestContext, 'header'>): number {
  const seconds = MAX_AGE.exec(ctx.header('cache-control') ?? '')?.[1]
  return seconds === undefined ? 0 : Number(seconds) * 1_000
}

/** Tells the client the age of its answer, in whole seconds, rounded up. */
export function sendAge(
  { responseHeaders }: Pick<RequestContext, 'responseHeaders'>,
  ageMs: number,
): void {
  if (ageMs > 0) responseHeaders.push('age', String(Math.ceil(ageMs / 1_000)))
}
