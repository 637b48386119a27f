import { randomBytes } from 'node:crypto'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const [OLD, NEW] = ['the old key', 'the new key']

async function setup() {
  const { db, replica: any, log } = await startIdentity()
  const replica = async (current: string, ...previous: string[]) => {
    const { secrets, audit } = await any({
      SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: current,
      SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS: previous.join(','),
    })
    return { ...secrets, audit }
  }
  const keyIds = () =>
    db.rows<{ key_id: string; total: number }>(
      sql`select key_id, count(*)::int as total from secrets group by 1`,
    )
  return { db, replica, keyIds, log }
}

type Replica = Awaited<ReturnType<Awaited<ReturnType<typeof setup>>['replica']>>

const put = (replica: Replica, name: string, value: string) =>
  replica.put({ entry: { name, value_json: JSON.stringify(value) } })
const read = async (replica: Replica, name: string) =>
  JSON.parse((await replica.get({ name })).value_json)

const rotate = (replica: Replica, limit: number, after = '') => replica.rotateKey({ after, limit })

/** Rotates all names in batches; returns the number of calls. */
async function rotateAll(replica: Replica, limit: number): Promise<number> {
  let calls = 0
  for (let after: string | undefined = ''; after !== undefined; calls++)
    after = (await rotate(replica, limit, after)).next
  return calls
}

const names = Array.from({ length: 25 }, (_, i) => `secret ${String(i).padStart(2, '0')}`)

test('rotation: values stay readable, and afterwards without the previous key', async () => {
  const { replica, keyIds } = await setup()
  const before = await replica(OLD)
  for (const name of names) await put(before, name, `of ${name}`)

  const during = await replica(NEW, OLD)
  expect(await read(during, names[3] ?? '')).toBe(`of ${names[3]}`)
  expect(await rotate(during, 10)).toMatchObject({
    rotated: 10,
    remaining: 15,
    unreadable: [],
    next: names[9],
  })
  for (const name of names) expect(await read(during, name)).toBe(`of ${name}`)
  expect(await keyIds()).toHaveLength(2)

  // Interrupted, then restarted from the first name.
  expect(await rotateAll(during, 10)).toBe(2)
  const ids = await keyIds()
  expect(ids).toMatchObject([{ total: 25 }])
  const after = await replica(NEW)
  for (const name of names) expect(await read(after, name)).toBe(`of ${name}`)
  expect(await rotate(after, 10)).toMatchObject({
    rotated: 0,
    remaining: 0,
    key_id: ids[0]?.key_id,
  })
})

test('each batch with changes: one audit entry without a value', async () => {
  const { replica } = await setup()
  const before = await replica(OLD)
  for (const name of names.slice(0, 3)) await put(before, name, 'canary')
  const during = await replica(NEW, OLD)
  const asking = { caller: { subject: 'ann', issuer: 'svc' }, requestId: 'r-1' }
  const { key_id } = await during.rotateKey({ after: '', limit: 2 }, asking)
  await during.rotateKey({ after: names[2] ?? '', limit: 2 }, asking)
  const filter = { actor: 'ann', action: 'secret.rotate_key', object: 'secret', outcome: 'done' }
  const page = { since: undefined, until: undefined, limit: 10, offset: 0 }
  const { entries } = await during.audit.list({ ...filter, ...page })
  expect(entries.map(({ draft }) => JSON.parse(draft?.detail_json ?? ''))).toEqual([
    { key_id, rotated: 2, remaining: 1, unreadable: [] },
  ])
})

test('writes during concurrent rotations: never overwritten by an older value', async () => {
  const { replica, keyIds } = await setup()
  const [before, a, b] = [await replica(OLD, NEW), await replica(NEW, OLD), await replica(NEW, OLD)]
  for (const name of names) await put(before, name, 'first')
  const last = new Map<string, string>()
  let isOver = false
  // Each name has one writer, so the last acknowledged value is the expected one.
  const writer = async (replica: Replica, own: string[]) => {
    while (!isOver)
      for (const name of own) {
        const value = randomBytes(6).toString('hex')
        await put(replica, name, value)
        last.set(name, value)
      }
  }
  const writing = [
    writer(before, names.slice(0, 8)),
    writer(a, names.slice(8, 16)),
    writer(b, names.slice(16)),
  ]
  for (let round = 0; round < 10; round++)
    await Promise.all([rotateAll(a, 4), rotateAll(b, 7), rotateAll(a, 25)])
  isOver = true
  await Promise.all(writing)
  for (const name of names)
    for (const replica of [a, before]) expect(await read(replica, name)).toBe(last.get(name))

  await rotateAll(a, 1_000)
  expect(await keyIds()).toMatchObject([{ total: 25 }])
  for (const name of names) expect(await read(b, name)).toBe(last.get(name))
})

test('previous key missing: its secrets are refused and logged', async () => {
  const { replica, keyIds, log } = await setup()
  const before = await replica(OLD)
  await put(before, 'a', 'canary-a')
  const [{ key_id = '' } = {}] = await keyIds()
  const after = await replica(NEW)
  await put(after, 'b', 'canary-b')

  await expect(after.get({ name: 'a' })).rejects.toMatchObject({
    kind: 'misconfigured',
    message: "Secret 'a' cannot be decrypted",
  })
  expect(await rotate(after, 10)).toMatchObject({ rotated: 0, remaining: 1, unreadable: ['a'] })
  expect(await read(after, 'b')).toBe('canary-b')
  expect(log()).toContain(`key ${key_id} is not configured`)
  expect(log()).not.toContain('canary')
  expect(await read(before, 'a')).toBe('canary-a')
})

test('batch of 0 or of more than 1,000: refused', async () => {
  const { replica } = await setup()
  const keys = await replica(NEW)
  for (const limit of [0, 1_001])
    await expect(rotate(keys, limit)).rejects.toMatchObject({ kind: 'invalid' })
})

test('a key: the time of its first use is kept over restarts, and a new key has its own', async () => {
  const { db, replica } = await setup()
  const uses = () =>
    db.rows<{ key_id: string; days: number }>(sql`
      select key_id, (extract(epoch from now() - first_used_at) / 86400)::float8 as days
        from encryption_keys order by first_used_at`)
  await replica(OLD)
  await expect.poll(async () => (await uses()).length).toBe(1)
  await db.run(sql`update encryption_keys set first_used_at = now() - interval '400 days'`)
  await replica(OLD)
  await replica(NEW, OLD)
  await expect.poll(async () => (await uses()).length).toBe(2)
  const [first, second] = await uses()
  expect(first?.days).toBeGreaterThan(399)
  expect(second?.days).toBeLessThan(1)
})
