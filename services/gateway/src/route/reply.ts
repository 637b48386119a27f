import type { JsonText } from '../domain/views.ts'
import type { RequestContext } from '../http/request-context.ts'

/** An answer that is no JSON document, written by itself: an event stream, a page, a passed-on stream. */
export class StreamedResponse {
  readonly write: (ctx: RequestContext) => Promise<void>

  constructor(write: (ctx: RequestContext) => Promise<void>) {
    this.write = write
  }
}

/** What a handler may answer instead of a value: text that is spliced already, or something of its own. */
export type Reply = JsonText | StreamedResponse
