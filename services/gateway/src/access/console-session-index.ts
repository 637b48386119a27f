import { createHash } from 'node:crypto'
import type { Redis } from '@windlass/runtime/redis/redis'
import type { Caller } from './caller.ts'

/** Maximum number of sessions of one principal; one more ends the oldest. */
const MAX_SESSIONS = 50
/** Characters of an id, with the blank after it. */
const ID_CHARS = 44
const KEPT_CHARS = MAX_SESSIONS * ID_CHARS

/** Puts an id first, once, and returns those beyond the limit, until they are removed. */
const ADD = `
local ids = redis.call('get', KEYS[1]) or ''
if not string.find(ids, ARGV[1], 1, true) then ids = ARGV[1] .. ' ' .. ids end
redis.call('set', KEYS[1], ids, 'PX', ARGV[2])
return string.sub(ids, ${KEPT_CHARS + 1})`

const REMOVE = `
local ids = redis.call('get', KEYS[1])
local at = ids and string.find(ids, ARGV[1], 1, true)
if at then
  local rest = string.sub(ids, 1, at - 1) .. string.sub(ids, at + ${ID_CHARS})
  redis.call('set', KEYS[1], rest, 'KEEPTTL')
end
return 0`

const idsIn = (text: string | null): string[] => (text ?? '').split(' ').filter((id) => id !== '')

/** Ids of the sessions of each principal, newest first. They are hashes and give no access. */
export class SessionIndex {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Adds an id for `ttlMs`; returns the ids of sessions beyond the limit, which the caller has to end. */
  async add(key: string, id: string, ttlMs: number): Promise<string[]> {
    return idsIn(String(await this.#redis.eval(ADD, 1, key, id, ttlMs)))
  }

  async remove(key: string, id: string): Promise<void> {
    await this.#redis.eval(REMOVE, 1, key, id)
  }

  async list(key: string): Promise<string[]> {
    return idsIn(await this.#redis.get(key))
  }
}

/** The key under which the ids of a principal's sessions are kept. */
export const indexKeyOf = ({ issuer = '', subject }: Pick<Caller, 'issuer' | 'subject'>): string =>
  `console:of:${createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('base64url')}`
