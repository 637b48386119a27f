/*
 * Sessions of the web console. A browser holds no API key: it gives one once, and gets a cookie.
 *
 * The cookie is 256 random bits. Redis has, under the hash of these bits, the API key encrypted with a
 * key that is derived from them. So neither Redis nor a copy of it gives access without the cookie, and
 * the cookie gives none without Redis. Each request is authenticated with the decrypted API key as if it
 * had sent the key itself: a session ends with its key, its principal or their rights, without a list of
 * sessions to keep in step. It also ends when it is unused, at its age, and when Redis loses it; then
 * its owner signs in again.
 *
 * A cookie is sent by every page of the browser, also by one of another site. It counts only together
 * with a header that pages of other sites cannot set, on a request that the browser marks as one of this
 * origin. Worker routes never read it.
 *
 * A principal can list its sessions and end each: an index by principal has their ids, which are the
 * hashes of the tokens.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { unavailable } from '@windlass/runtime/faults'
import { type Redis, runRepeatable } from '@windlass/runtime/redis/redis'
import type { Caller } from './caller.ts'
import { indexKeyOf, SessionIndex } from './console-session-index.ts'

const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'
const PREFIX = 'console:'
const MAX_AGENT_CHARS = 200
/** A use is stored if the last stored one is at least this old. */
const TOUCH_MS = 60_000

interface Stored {
  /** Milliseconds since 1970. */
  created: number
  used: number
  /** Nonce, tag and encrypted credential, in base64. */
  sealed: string
  /** Key of the index that lists the session. */
  index: string
  /** The beginning of the User-Agent header of the sign-in. */
  agent?: string
}

export type Owner = Pick<Caller, 'subject' | 'issuer'>

/** A session without the parts that give access. */
export interface SessionSummary {
  id: string
  /** Milliseconds since 1970. */
  created: number
  /** To the minute. */
  used: number
  agent: string
}

interface Lifetimes {
  idleMs: number
  maxAgeMs: number
}

export class ConsoleSessions {
  readonly #redis: Redis
  readonly #lifetimes: Lifetimes
  readonly #now: () => number
  readonly #index: SessionIndex

  constructor(redis: Redis, lifetimes: Lifetimes, now = Date.now) {
    this.#redis = redis
    this.#index = new SessionIndex(redis)
    this.#lifetimes = lifetimes
    this.#now = now
  }

  get maxAgeMs(): number {
    return this.#lifetimes.maxAgeMs
  }

  /** Stores a credential of a principal; returns the token for the cookie. Throws `unavailable` without Redis. */
  async open(credential: string, owner: Owner, agent = ''): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const now = this.#now()
    const index = indexKeyOf(owner)
    const sealed = seal(token, credential)
    const stored = {
      created: now,
      used: now,
      sealed,
      index,
      agent: agent.slice(0, MAX_AGENT_CHARS),
    }
    await this.#write(idOf(token), stored)
    const excess = await this.#available(() => this.#index.add(index, idOf(token), this.maxAgeMs))
    await Promise.all(excess.map((id) => this.#endListed(index, id)))
    return token
  }

  /** Returns the credential of a session; undefined if it has ended or never existed. */
  async credentialOf(token: string): Promise<string | undefined> {
    if (!TOKEN.test(token)) return undefined
    const stored = await this.#read(idOf(token))
    if (!stored) return undefined
    const now = this.#now()
    if (
      now - stored.used >= TOUCH_MS &&
      !(await this.#touch(idOf(token), { ...stored, used: now }))
    )
      return undefined
    return unseal(token, stored.sealed)
  }

  /**
   * Stores a use; returns false if the session has ended since it was read. The end of a session first
   * removes the id from the index, then the session. So either its second step follows this write, or this
   * write finds the id missing: no write can revive a session.
   */
  async #touch(id: string, stored: Stored): Promise<boolean> {
    await this.#write(id, stored)
    if ((await this.#idsOf(stored.index)).includes(id)) return true
    await this.#remove(id)
    return false
  }

  /** Ends the session of a cookie; one that has ended is no error. */
  async close(token: string): Promise<void> {
    if (TOKEN.test(token)) await this.end(idOf(token))
  }

  /** Ends a session by its id. */
  async end(id: string): Promise<void> {
    const index = (await this.#read(id))?.index
    if (index) await this.#endListed(index, id)
  }

  /** Sessions of a principal that have not ended, newest first. */
  async list(owner: Owner): Promise<SessionSummary[]> {
    const ids = await this.#idsOf(indexKeyOf(owner))
    const found = await Promise.all(ids.map((id) => this.#read(id)))
    return ids.flatMap((id, i) => {
      const stored = found[i]
      return stored
        ? [{ id, created: stored.created, used: stored.used, agent: stored.agent ?? '' }]
        : []
    })
  }

  /** Ends a session of a principal by its id; returns false if the principal has none of this id. */
  async revoke(owner: Owner, id: string): Promise<boolean> {
    const index = indexKeyOf(owner)
    if (!(await this.#idsOf(index)).includes(id)) return false
    await this.#endListed(index, id)
    return true
  }

  async #endListed(index: string, id: string): Promise<void> {
    await this.#available(() => this.#index.remove(index, id))
    await this.#remove(id)
  }

  async #read(id: string): Promise<Stored | undefined> {
    const text = await this.#available(() => this.#redis.get(PREFIX + id))
    if (!text) return undefined
    const stored = JSON.parse(text) as Stored
    return this.#leftOf(stored, this.#now()) > 0 ? stored : undefined
  }

  async #remove(id: string): Promise<void> {
    await this.#available(() => this.#redis.set(PREFIX + id, '', 'PX', 1))
  }

  #idsOf(index: string): Promise<string[]> {
    return this.#available(() => this.#index.list(index))
  }

  /** Every command of this file has the same effect if it runs twice. */
  async #available<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await runRepeatable(this.#redis, command)
    } catch {
      throw unavailable('sessions of the console cannot be read: Redis is unavailable; retry')
    }
  }

  #leftOf({ created, used }: Stored, now: number): number {
    const { idleMs, maxAgeMs } = this.#lifetimes
    return Math.min(used + idleMs, created + maxAgeMs) - now
  }

  async #write(id: string, stored: Stored): Promise<void> {
    const left = Math.max(1, Math.ceil(this.#leftOf(stored, this.#now())))
    await this.#available(() => this.#redis.set(PREFIX + id, JSON.stringify(stored), 'PX', left))
  }
}

/** Name of a session, from which its token cannot be computed. */
export const idOf = (token: string): string =>
  createHash('sha256').update(token, 'utf8').digest('base64url')

const cipherKeyOf = (token: string) =>
  Buffer.from(
    hkdfSync('sha256', Buffer.from(token, 'base64url'), '', 'windlass console session', 32),
  )

function seal(token: string, credential: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, cipherKeyOf(token), nonce)
  const body = Buffer.concat([cipher.update(credential, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
}

/** Returns undefined for a session that was changed in Redis. */
function unseal(token: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const body = bytes.subarray(NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv(CIPHER, cipherKeyOf(token), bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
