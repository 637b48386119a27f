import { createHash, randomBytes } from 'node:crypto'
import {
  CancelledNotificationSchema,
  isInitializeRequest,
  isJSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js'

const NONCE_BYTES = 16
const CHECK_CHARS = 8

/**
 * Finds the request that a client cancels. Over HTTP the `notifications/cancelled` is a request of its own, and
 * clients choose their request ids independently of each other, so an id alone does not name a request.
 *
 * Each client therefore gets a session id. It is only a name: any replica accepts it with the credential that it was
 * issued for and keeps no state for it, rights come from the credential of each request, and a cancellation reaches
 * only requests of the same credential and session. A cancellation that arrives at another replica has no effect; a client that closes the connection
 * of its request cancels it, too.
 */
export class ClientSessions {
  readonly #cancelOf = new Map<string, () => void>()

  /**
   * Applies a cancellation, or calls `cancel` if a later one names this request, until the returned function is
   * called. A request of a batch cannot be cancelled, because its responses share one stream.
   */
  track(
    { messages, credential, sessionId }: TrackedRequest,
    cancel: () => void,
  ): (() => void) | undefined {
    if (sessionId === undefined || Array.isArray(messages)) return undefined
    const keyOf = (id: unknown) => JSON.stringify([credential, sessionId, id])
    const cancelled = CancelledNotificationSchema.safeParse(messages)
    if (cancelled.success) this.#cancelOf.get(keyOf(cancelled.data.params.requestId))?.()
    if (!isJSONRPCRequest(messages)) return undefined
    const key = keyOf(messages.id)
    this.#cancelOf.set(key, cancel)
    return () => {
      if (this.#cancelOf.get(key) === cancel) this.#cancelOf.delete(key)
    }
  }
}

interface TrackedRequest {
  /** The parsed body. */
  messages: unknown
  credential: string | undefined
  sessionId: string | undefined
}

/** The id for a client that begins a session with this message, or undefined. */
export const newSessionId = (messages: unknown, credential: string | undefined) =>
  isInitializeRequest(messages)
    ? withCheck(randomBytes(NONCE_BYTES).toString('hex'), credential)
    : undefined

/** False for an id of another server or of another credential, and for one that is guessed. */
export const isSessionId = (text: string, credential: string | undefined): boolean =>
  text === withCheck(text.slice(0, 2 * NONCE_BYTES), credential)

/** No signature: the id grants nothing. */
const withCheck = (nonce: string, credential = '') =>
  nonce + createHash('sha256').update(`${nonce} ${credential}`).digest('hex').slice(0, CHECK_CHARS)
