import type { JsonText } from '../domain/views.ts'
import type { Exchange } from '../http/request-context.ts'

/** An answer that is no JSON document, written by itself: an event stream, a page, a passed-on stream. */
export class Written {
  readonly write: (x: Exchange) => Promise<void>

  constructor(write: (x: Exchange) => Promise<void>) {
    this.write = write
  }
}

/** What a handler may answer instead of a value: text that is spliced already, or something of its own. */
export type Reply = JsonText | Written
