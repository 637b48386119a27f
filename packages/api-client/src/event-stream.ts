import { createParser } from 'eventsource-parser'
import { ResponseError } from './errors.ts'

/** One event of a `text/event-stream` (WHATWG HTML, 9.2). */
export interface ServerSentEvent {
  /** `message` if the server named none. */
  event: string
  /** Empty if the server gave none. */
  id: string
  /** JSON text, exactly as the server wrote it. */
  data: string
}

/** The API's largest frame is an execution with its input and output of 16 MiB each. */
const MAX_EVENT_CHARS = 64 * 1_048_576

/** Yields the events of a response; `onChunk` is called for each piece that arrives, comments included. */
export async function* toServerSentEvents(
  { body, headers }: Response,
  onChunk: () => void,
): AsyncGenerator<ServerSentEvent> {
  const type = headers.get('content-type') ?? ''
  if (!type.startsWith('text/event-stream') || body === null)
    throw new ResponseError(`the answer is not an event stream but '${type}'`)
  const events: ServerSentEvent[] = []
  let failure: Error | undefined
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ event = 'message', id = '', data }) => events.push({ event, id, data }),
    onError: (error) => {
      // Fields that the standard does not define are skipped, as it requires; only an endless one is fatal.
      if (error.type === 'max-buffer-size-exceeded') failure = error
    },
  })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    onChunk()
    parser.feed(decoder.decode(value, { stream: true }))
    yield* events.splice(0)
    if (failure) throw new ResponseError(`an event is larger than ${MAX_EVENT_CHARS} characters`)
  }
}
