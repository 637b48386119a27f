import { randomBytes, scryptSync } from 'node:crypto'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { encrypt, importKey } from '../src/domain/cipher.ts'
import { newInstallation, startIdentity } from './identity-fixture.ts'

const KEY = 'a key that two installations share'
const ENV = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: KEY }

type Db = Awaited<ReturnType<typeof startIdentity>>['db']

const run = (db: Db, query: Sql) => db.run(query)
const keyIds = async (db: Db) =>
  (await db.rows<{ key_id: string }>(sql`select distinct key_id from secrets`)).map(
    ({ key_id }) => key_id,
  )
const put = (name: string) => ({ entry: { name, value_json: `"of ${name}"` } })

/** Stores a value as releases before the salt of the installation did. */
async function storeUnderFixedSalt(db: Db, name: string): Promise<string> {
  const cost = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1_048_576 }
  const key = await importKey(scryptSync(KEY, 'windlass secrets 1', 40, cost))
  const { nonce, ciphertext } = await encrypt(key, name, `"of ${name}"`, randomBytes(12))
  await run(
    db,
    sql`insert into secrets (name, key_id, nonce, ciphertext)
        values (${name}, ${key.id}, ${Buffer.from(nonce)}, ${Buffer.from(ciphertext)})`,
  )
  return key.id
}

test('two installations with one encryption_key: derive different keys', async () => {
  const ids = []
  for (const database of [await newInstallation(), await newInstallation()]) {
    const { db, replica } = await startIdentity({}, { database })
    const { secrets } = await replica(ENV)
    await secrets.put(put('a'))
    ids.push(...(await keyIds(db)))
  }
  expect(new Set(ids).size).toBe(2)
})

test('installation of an earlier release: its fixed salt is used until the key is rotated', async () => {
  const { db, replica } = await startIdentity()
  await run(db, sql`update installation set uses_key_salt = false`)
  const fixed = await storeUnderFixedSalt(db, 'a')
  const [one, other] = [(await replica(ENV)).secrets, (await replica(ENV)).secrets]
  await one.put(put('b'))
  expect(await keyIds(db)).toEqual([fixed])
  expect((await one.get({ name: 'a' })).value_json).toBe('"of a"')

  expect(await one.rotateKey({ after: '', limit: 10 })).toMatchObject({ rotated: 2, remaining: 0 })
  await other.put(put('c'))
  const [salted, ...rest] = await keyIds(db)
  expect(salted).not.toBe(fixed)
  expect(rest).toEqual([])
  for (const name of ['a', 'b', 'c'])
    for (const secrets of [one, other])
      expect((await secrets.get({ name })).value_json).toBe(`"of ${name}"`)

  // A replica of the earlier release that still runs writes one more.
  await storeUnderFixedSalt(db, 'd')
  expect((await other.get({ name: 'd' })).value_json).toBe('"of d"')
})
