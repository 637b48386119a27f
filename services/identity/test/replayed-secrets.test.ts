import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const ENV = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'correct horse battery staple' }
const entry = (value: string) => ({ entry: { name: 'a', value_json: JSON.stringify(value) } })

/** A secret that was changed once, and a copy of the row before the change. */
async function setup() {
  const { db, replica, log } = await startIdentity()
  const { secrets } = await replica(ENV)
  await secrets.put(entry('leaked'))
  await db.run(sql`create table copied as select * from secrets`)
  await secrets.put(entry('rotated'))
  return { db, secrets, log }
}

const replays: Record<string, Sql> = {
  'the earlier value': sql`
    update secrets s set key_id = c.key_id, nonce = c.nonce, ciphertext = c.ciphertext
      from copied c where c.name = s.name`,
  'the whole earlier row': sql`insert into secrets select * from copied`,
}

test.each(Object.entries(replays))('%s put back in the table: refused', async (what, replay) => {
  const { db, secrets, log } = await setup()
  if (what === 'the whole earlier row') await db.run(sql`delete from secrets`)
  expect(await db.run(replay)).toBe(1)
  await expect(secrets.get({ name: 'a' })).rejects.toMatchObject({
    kind: 'misconfigured',
    message: "Secret 'a' cannot be decrypted",
  })
  expect(log()).toContain('failed to decrypt secret')
  expect(log()).not.toContain('leaked')
})
