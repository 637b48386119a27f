import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { GENESIS, type Head, hashEntry } from '@windlass/domain/audit'
import {
  type Checkpoint,
  type CheckpointList,
  signingInput,
  thumbprintInput,
} from '@windlass/domain/audit-checkpoint'
import { nodeCrypto } from '@windlass/domain/audit-signature'
import { expect, test } from 'vitest'
import { toHead, verifyChain } from './verify.ts'

const PAGE = 3

/** Entries of a chain as the server sends them; details hold numbers that JavaScript would round. */
function chainOf(length: number) {
  let head: Head = { seq: 0, hash: GENESIS }
  const entries = Array.from({ length }, (_, i) => {
    const entry = {
      ...{ seq: i + 1, at: '2026-01-02T03:04:05.678Z', subject: 'żółć', issuer: 'svc' },
      ...{ key_prefix: '', request_id: `r-${i}`, action: 'role.create', object: 'role:x' },
      ...{ outcome: 'done', detail_json: '{"n":9007199254740993}' },
    }
    const previous_hash = head.hash.toString('hex')
    head = { seq: entry.seq, hash: hashEntry(head.hash, entry) }
    return { ...entry, previous_hash, hash: head.hash.toString('hex') }
  })
  return { entries, head: { seq: head.seq, hash: head.hash.toString('hex') } }
}

type Chain = ReturnType<typeof chainOf>

const jsonOf = ({ subject, issuer, key_prefix, detail_json, ...rest }: Chain['entries'][number]) =>
  JSON.stringify({ ...rest, actor: { subject, issuer, key_prefix }, detail: 0 }).replace(
    '"detail":0',
    `"detail":${detail_json}`,
  )

const verify = async (
  { entries, head }: Chain,
  noted?: Chain['head'],
  list: CheckpointList = { tokens: [], keys: [] },
) => {
  const seen: number[] = []
  const readPage = async (after: number) => {
    const page = entries.filter(({ seq }) => seq > after).slice(0, PAGE)
    return { entries: `[${page.map(jsonOf)}]`, head }
  }
  const readCheckpoints = async () => list
  const onProgress = (done: number) => seen.push(done)
  const result = await verifyChain({ readPage, readCheckpoints, onProgress }, noted)
  return { ...result, seen }
}

test('a whole chain in several pages: no problem, and its head', async () => {
  const chain = chainOf(7)
  expect(await verify(chain, chain.head)).toEqual({
    problems: [],
    notes: [],
    checkpoints: 0,
    kids: [],
    entries: 7,
    head: chain.head,
    seen: [3, 6, 7],
  })
  expect((await verify(chainOf(0))).problems).toEqual([])
})

test('a changed detail, a missing entry and a head that was noted otherwise: each is named', async () => {
  const chain = chainOf(7)
  const changed = chain.entries.map((one) =>
    one.seq === 4 ? { ...one, detail_json: '{"n":9007199254740992}' } : one,
  )
  expect((await verify({ ...chain, entries: changed })).problems).toEqual(['entry 4 was changed'])
  const missing = chain.entries.filter(({ seq }) => seq !== 5)
  expect((await verify({ ...chain, entries: missing })).problems).toEqual(['entry 5 is missing'])
  const cut = { ...chain, entries: chain.entries.slice(0, 6) }
  expect((await verify(cut)).problems).toEqual(['entry 7 is missing'])
  const noted = { seq: 2, hash: 'f'.repeat(64) }
  expect((await verify(chain, noted)).problems).toEqual([
    'entry 2 is not the one that was remembered',
  ])
})

test('a noted head: its number and hash, nothing for another text', () => {
  const hash = 'a'.repeat(64)
  expect(toHead(` 12:${hash}\n`)).toEqual({ seq: 12, hash })
  expect(toHead('12')).toBeUndefined()
})

/** A list with one checkpoint of this entry, and its key. */
function signedList(chain: Chain, seq: number, changes: Partial<Checkpoint> = {}): CheckpointList {
  const pkcs8 = Buffer.from(`302e020100300506032b657004220420${'01'.repeat(32)}`, 'hex')
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const kid = nodeCrypto.digest(thumbprintInput(x)) as string
  const { hash = '' } = chain.entries[seq - 1] ?? {}
  const at = '2026-01-02T03:04:05.678Z'
  const input = signingInput(kid, { seq, hash, at, entries: seq, reason: 'prune', ...changes })
  const token = `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
  return { tokens: [token], keys: [{ kid, x, confirmed: true }] }
}

test('a pruned log: whole with a signed checkpoint, and not with another signature or hash', async () => {
  const chain = chainOf(7)
  const pruned = { ...chain, entries: chain.entries.slice(4) }
  const list = signedList(chain, 4)
  expect(await verify(pruned, undefined, list)).toMatchObject({
    ...{ problems: [], entries: 3, checkpoints: 1, kids: [list.keys[0]?.kid] },
    notes: ['entries 1 to 4 were pruned on 2026-01-02T03:04:05.678Z, with a signed checkpoint'],
  })
  expect((await verify(pruned)).problems).toEqual(['entries 1 to 4 are missing'])
  const [token = ''] = list.tokens
  const cut = { ...list, tokens: [`${token.slice(0, -8)}AAAAAAAA`] }
  expect((await verify(pruned, undefined, cut)).problems).toEqual([
    'the checkpoint of entry 4 was changed: its signature is not valid',
    'entries 1 to 4 are missing',
  ])
  const other = signedList(chain, 4, { hash: 'f'.repeat(64) })
  expect((await verify(pruned, undefined, other)).problems).toEqual([
    'entry 5 does not continue the checkpoint of entry 4',
  ])
})
