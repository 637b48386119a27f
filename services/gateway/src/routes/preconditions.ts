import type { Precondition } from '@windlass/proto/windlass/access/v1/precondition'
import { unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { RequestContext } from '../http/request-context.ts'

/** A list of entity tags. A proxy that compresses an answer marks its tag as weak. */
const TAGS = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/
const TAG = /"([^"]*)"/g

const ifMatch = z.string().optional().meta({
  description:
    'The revision that the change is for, in quotes as in `ETag`, several of them, or `*`; 412 if the object has another one by now. Without it, the later of two changes counts.',
})

/** Headers of a request that changes an object, for the documents. */
export const changeHeaders = { 'If-Match': ifMatch }

/** Headers of a request that creates or replaces an object, for the documents. */
export const putHeaders = {
  ...changeHeaders,
  'If-None-Match': z.literal('*').optional().meta({ description: '412 if there is one already.' }),
}

const malformed = (name: string, msg: string) =>
  unprocessable({ loc: ['header', name], msg, type: 'value_error' })

/** The precondition of a request, or undefined if it has none. */
export function readPrecondition(ctx: Pick<RequestContext, 'header'>): Precondition | undefined {
  const tags = ctx.header('if-match')
  const none = ctx.header('if-none-match')
  if (none !== undefined) {
    if (none.trim() !== '*') throw malformed('If-None-Match', 'must be *')
    if (tags !== undefined) throw malformed('If-None-Match', 'cannot be combined with If-Match')
    return { revisions: [], any: false, absent: true }
  }
  if (tags === undefined) return undefined
  if (tags.trim() === '*') return { revisions: [], any: true, absent: false }
  if (!TAGS.test(tags))
    throw malformed('If-Match', 'must be * or a revision in quotes, as ETag has it')
  const revisions = Array.from(tags.matchAll(TAG), ([, revision = '']) => revision)
  return { revisions, any: false, absent: false }
}

/** Tells the client the revision of the object in the answer; replicas of earlier releases have none. */
export function sendRevision(ctx: RequestContext, revision: string | undefined): void {
  if (revision !== undefined) ctx.responseHeaders.push('etag', `"${revision}"`)
}
