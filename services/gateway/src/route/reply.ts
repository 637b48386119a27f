import type { JsonText } from '../domain/views.ts'
import type { RequestContext } from '../http/request-context.ts'

/** A response that writes itself, such as an event stream, a page or a proxied stream. */
export class StreamedResponse {
  readonly write: (ctx: RequestContext) => Promise<void>

  constructor(write: (ctx: RequestContext) => Promise<void>) {
    this.write = write
  }
}

/** A handler returns a value, spliced JSON text, or a streamed response. */
export type Reply = JsonText | StreamedResponse
