import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { migrate } from '@windlass/runtime/postgres/migrate'
import { emptyDatabase, query } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'

const MIGRATIONS = new URL('../migrations/', import.meta.url)
const SCOPES = '0008_secret_scopes.sql'

/** The migrations of releases before secrets had patterns. */
function earlierMigrations(): URL {
  const folder = temporaryFolder('migrations')
  cpSync(MIGRATIONS, folder, { recursive: true })
  for (const name of readdirSync(folder)) if (name >= SCOPES) rmSync(join(folder, name))
  return pathToFileURL(`${folder}/`)
}

test.each<[what: string, expected: string, statement?: string]>([
  ['new', 'scoped'],
  [
    'with a config',
    'declared',
    `insert into identity.configs (name, value_json) values ('a', '1')`,
  ],
  [
    'with a secret',
    'declared',
    `insert into identity.secrets (name, key_id, nonce, ciphertext)
     values ('a', repeat('0', 16), decode(repeat('00', 12), 'hex'), decode(repeat('00', 17), 'hex'))`,
  ],
])('an installation %s: the policy of secrets is %s', async (_, expected, statement) => {
  const database = await emptyDatabase()
  await migrate(database, 'identity', earlierMigrations())
  if (statement) await query(database, statement)
  expect(await migrate(database, 'identity', MIGRATIONS)).toContain(SCOPES)
  expect(await query(database, 'select secrets_policy from identity.installation')).toEqual([
    { secrets_policy: expected },
  ])
})
