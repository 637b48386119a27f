import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { dumpDatabase } from '@windlass/testkit/database'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const KEY = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'correct horse battery staple' }

async function setup() {
  const { replica, ...rest } = await startIdentity()
  return { ...rest, replica: (env: Record<string, string> = KEY) => replica(env) }
}

const entry = (name: string, value_json: string) => ({ entry: { name, value_json } })

const services = ['secrets', 'configs'] as const

test.each(services)(
  '%s: every replica returns the exact text that was written',
  async (service) => {
    const { replica } = await setup()
    const [a, b] = [(await replica())[service], (await replica())[service]]
    const values = [
      '9007199254740993',
      ' {"b":1e400,"a":[null],"a":2} ',
      '""',
      'false',
      '"\\ud800"',
    ]
    for (const value of values) {
      await a.put(entry('odd name+1', value))
      expect(await b.get({ name: 'odd name+1' })).toMatchObject({
        name: 'odd name+1',
        value_json: value,
      })
    }
  },
)

test.each(services)('%s: listed by name; a batch returns the existing ones', async (service) => {
  const { replica } = await setup()
  const client = (await replica())[service]
  expect(await client.list({})).toMatchObject({ names: [] })
  for (const name of ['b', 'a', 'cafe\u0301']) await client.put(entry(name, `"${name}"`))

  expect(await client.list({})).toMatchObject({ names: ['a', 'b', 'caf\u00e9'] })
  const { entries } = await client.getMany({ names: ['a', 'missing', 'caf\u00e9', 'a'] })
  expect(new Set(entries.map(({ name }) => name))).toEqual(new Set(['a', 'caf\u00e9']))
  expect(await client.getMany({ names: [] })).toEqual({ entries: [] })
})

test.each([
  ['secrets', 'Secret not found: a'],
  ['configs', 'Config not found: a'],
] as const)('%s: deletion is idempotent and reads answer not_found', async (service, message) => {
  const { replica } = await setup()
  const client = (await replica())[service]
  await client.put(entry('a', '1'))
  await client.delete({ name: 'a' })
  await client.delete({ name: 'a' })
  await expect(client.get({ name: 'a' })).rejects.toMatchObject({ kind: 'not_found', message })
})

test.each(services)(
  '%s: invalid names, invalid values and oversized batches are refused',
  async (service) => {
    const { replica, log } = await setup()
    const client = (await replica())[service]
    const names = Array.from({ length: 101 }, (_, i) => `n${i}`)
    await expect(client.put(entry('a/b', '1'))).rejects.toMatchObject({ kind: 'invalid' })
    await expect(client.put(entry('a', 'null'))).rejects.toMatchObject({ kind: 'unprocessable' })
    await expect(client.put(entry('a', 'canary'))).rejects.toMatchObject({ kind: 'unprocessable' })
    const long = `"${'x'.repeat(65_536)}"`
    await expect(client.put(entry('a', long))).rejects.toMatchObject({ kind: 'too_large' })
    await expect(client.getMany({ names })).rejects.toMatchObject({ kind: 'too_large' })
    expect(await client.list({})).toMatchObject({ names: [] })
    expect(log()).not.toContain('canary')
  },
)

test('no encryption key: each secret call names the setting; configs work', async () => {
  const { db, replica } = await setup()
  const { secrets, configs } = await replica({})
  const refusal = {
    kind: 'misconfigured',
    message: 'Secrets need an encryption key: [svc.security.encryption].encryption_key is not set',
  }
  for (const call of [
    () => secrets.put(entry('a', '"canary"')),
    () => secrets.put(entry('a/b', 'null')),
    () => secrets.get({ name: 'a' }),
    () => secrets.getMany({ names: [] }),
    () => secrets.list({}),
    () => secrets.delete({ name: 'a' }),
  ])
    await expect(call()).rejects.toMatchObject(refusal)
  expect(await db.rows(sql`select from secrets`)).toEqual([])
  await configs.put(entry('a', '1'))
  expect(await configs.get({ name: 'a' })).toMatchObject({ name: 'a', value_json: '1' })
})

const damages: Record<string, Sql> = {
  'a flipped bit': sql`update secrets set ciphertext = set_bit(ciphertext, 9, 1 - get_bit(ciphertext, 9)) where name = 'a'`,
  'another nonce': sql`update secrets set nonce = set_bit(nonce, 0, 1 - get_bit(nonce, 0)) where name = 'a'`,
  'the row of another name': sql`
    update secrets a set key_id = b.key_id, nonce = b.nonce, ciphertext = b.ciphertext
      from secrets b where a.name = 'a' and b.name = 'b'`,
  'an unknown key id': sql`update secrets set key_id = repeat('0', 16) where name = 'a'`,
}

test.each(Object.entries(damages))('%s: refused and logged without a value', async (_, damage) => {
  const { db, replica, log } = await setup()
  const { secrets } = await replica()
  await secrets.put(entry('a', '"canary-a"'))
  await secrets.put(entry('b', '"canary-b"'))
  expect(await db.run(damage)).toBe(1)

  for (const call of [
    () => secrets.get({ name: 'a' }),
    () => secrets.getMany({ names: ['a', 'b'] }),
  ])
    await expect(call()).rejects.toMatchObject({
      kind: 'misconfigured',
      message: "Secret 'a' cannot be decrypted",
    })
  expect(await secrets.get({ name: 'b' })).toMatchObject({ value_json: '"canary-b"' })
  expect(log()).toContain('failed to decrypt secret')
  expect(log()).not.toContain('canary')
})

test('N160: another key: reading fails until the value is written again', async () => {
  const { replica } = await setup()
  const [old, next] = [
    await replica(),
    await replica({ SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'another one' }),
  ]
  await old.secrets.put(entry('a', '1'))
  await expect(next.secrets.get({ name: 'a' })).rejects.toMatchObject({ kind: 'misconfigured' })
  await next.secrets.put(entry('a', '2'))
  expect(await next.secrets.get({ name: 'a' })).toMatchObject({ value_json: '2' })
})

test('same value: each encryption uses a new nonce', async () => {
  const { db, replica } = await setup()
  const { secrets } = await replica()
  for (const name of ['a', 'b', 'c']) await secrets.put(entry(name, '"same"'))
  const before = await db.rows<{ nonce: Buffer }>(sql`select nonce from secrets`)
  await secrets.put(entry('a', '"same"'))
  const after = await db.rows<{ nonce: Buffer }>(sql`select nonce from secrets`)
  const nonces = [...before, ...after].map(({ nonce }) => nonce.toString('hex'))
  expect(new Set(nonces).size).toBe(4)
})

test('secret value: in no column of the schema and in no log line', async () => {
  const { database, replica, log } = await setup()
  const { secrets } = await replica()
  const canary = 'canary-4f1d2c'
  await secrets.put(entry('a', `"${canary}"`))
  await secrets.put(entry('a', `{"password":"${canary}"}`))
  await secrets.get({ name: 'a' })
  await secrets.getMany({ names: ['a'] })
  await secrets.get({ name: canary }).catch(() => {})

  const written = (await dumpDatabase(database)) + log()
  expect(written).toContain('identity.secrets (a,')
  for (const form of ['utf8', 'hex', 'base64'] as const)
    expect(written).not.toContain(Buffer.from(canary).toString(form).replaceAll('=', ''))
})
