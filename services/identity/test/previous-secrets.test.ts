import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const [OLD, NEW] = ['the old key', 'the new key']
const PREVIOUS = { name: 'a', previous: true }
const HOUR_S = 3_600

async function setup() {
  const { db, replica: any } = await startIdentity()
  const replica = async (current: string, ...previous: string[]) =>
    (
      await any({
        SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: current,
        SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS: previous.join(','),
      })
    ).secrets
  const secrets = await replica(OLD)
  const put = (value: number, keep_previous?: number) =>
    secrets.put({ entry: { name: 'a', value_json: `${value}` }, keep_previous })
  return { db, replica, secrets, put }
}

const missing = { kind: 'not_found', message: 'Secret not found: a' }

test('a change that keeps the previous value: both are readable until its time', async () => {
  const { db, secrets, put } = await setup()
  await put(1)
  await expect(secrets.get(PREVIOUS)).rejects.toMatchObject(missing)
  const { entry } = await put(2, HOUR_S)
  expect(entry).toMatchObject({ name: 'a', value_json: '', version: 2 })
  const leftMs = (entry?.previous_until?.getTime() ?? 0) - Date.now()
  expect(leftMs).toBeGreaterThan((HOUR_S - 60) * 1_000)
  expect(await secrets.get(PREVIOUS)).toMatchObject({ value_json: '1' })
  expect(await secrets.get({ name: 'a' })).toMatchObject({ value_json: '2' })
  expect(await secrets.getMany({ names: ['a'], previous: true })).toMatchObject({
    entries: [{ value_json: '1' }],
  })

  await db.run(sql`update secrets set previous_until = now() - interval '1 s'`)
  await expect(secrets.get(PREVIOUS)).rejects.toMatchObject(missing)
})

test.each([
  ['half an hour ahead of', HOUR_S / 2],
  ['half an hour behind', -HOUR_S / 2],
])(
  'clock of the replica %s that of the database: the previous value ends by the latter',
  async (_, aheadS) => {
    const { db, secrets, put } = await setup()
    await put(1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadS * 1_000 })
    onTestFinished(() => void vi.useRealTimers())
    const { entry } = await put(2, 60)
    const left = await db.maybe(sql`
      select ${entry?.previous_until}::timestamptz - now() between interval '1 s' and interval '60 s' as ok`)
    expect(left).toEqual({ ok: true })
    expect(await secrets.get(PREVIOUS)).toMatchObject({ value_json: '1' })
    expect(await secrets.list({})).toMatchObject({
      entries: [{ previous_until: expect.any(Date) }],
    })

    await db.run(sql`update secrets set previous_until = now() - interval '1 s'`)
    await expect(secrets.get(PREVIOUS)).rejects.toMatchObject(missing)
    expect(await secrets.list({})).toMatchObject({ entries: [{ previous_until: undefined }] })
  },
)

test('a change that keeps nothing: the previous value is destroyed', async () => {
  const { db, secrets, put } = await setup()
  await put(1)
  await put(2, HOUR_S)
  await put(3)
  await expect(secrets.get(PREVIOUS)).rejects.toMatchObject(missing)
  expect(await db.rows(sql`select from secrets where previous_ciphertext is not null`)).toEqual([])
})

const attacks: Record<string, Sql> = {
  'a longer time': sql`update secrets set previous_until = previous_until + interval '1 day'`,
  'the previous value as the current one': sql`
    update secrets set nonce = previous_nonce, ciphertext = previous_ciphertext`,
  'the current value as the previous one': sql`
    update secrets set previous_nonce = nonce, previous_ciphertext = ciphertext`,
}

test.each(Object.entries(attacks))('%s written to the table: refused', async (what, attack) => {
  const { db, secrets, put } = await setup()
  await put(1)
  await put(2, HOUR_S)
  await db.run(attack)
  const read = what.includes('as the current') ? { name: 'a' } : PREVIOUS
  await expect(secrets.get(read)).rejects.toMatchObject({ kind: 'misconfigured' })
})

test('rotation of the key: the previous value stays readable without the earlier key', async () => {
  const { replica, put } = await setup()
  await put(1)
  await put(2, HOUR_S)
  const during = await replica(NEW, OLD)
  expect(await during.rotateKey({ after: '', limit: 10 })).toMatchObject({
    rotated: 1,
    remaining: 0,
  })
  const after = await replica(NEW)
  expect(await after.get(PREVIOUS)).toMatchObject({ value_json: '1' })
  expect(await after.get({ name: 'a' })).toMatchObject({ value_json: '2', version: 2 })
})

test('a longer time than thirty days: refused', async () => {
  const { put } = await setup()
  await expect(put(1, 31 * 24 * HOUR_S)).rejects.toMatchObject({ kind: 'unprocessable' })
})
