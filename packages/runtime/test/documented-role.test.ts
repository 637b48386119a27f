import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { query, testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../src/postgres/migrate.ts'

const PROJECT = new URL('../../../', import.meta.url)
const SERVICES = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']

/** The statements of docs/operations.md, with another name and password. */
async function documentedStatements(name: string, password: string): Promise<string[]> {
  const page = await readFile(new URL('docs/operations.md', PROJECT), 'utf8')
  const [, block = ''] = /```sql\n(.*?)```/s.exec(page) ?? []
  const statements = block.split(';').filter((each) => each.trim() !== '')
  return statements.map((each) =>
    each.replaceAll('windlass', name).replace('WINDLASS_POSTGRES_PASSWORD', password),
  )
}

test('the role and the database of docs/operations.md: migrate every service and make its role', async () => {
  const server = testUrl('TEST_POSTGRES_URL')
  const [name, password] = [`test_${randomBytes(8).toString('hex')}`, 'of the test']
  const roles = SERVICES.map((service) => `${name}_${service}`)
  onTestFinished(async () => {
    await query(server, `drop database if exists ${name} with (force)`)
    for (const role of [...roles, name]) await query(server, `drop role if exists ${role}`)
  })
  const statements = await documentedStatements(name, password)
  expect(statements).toHaveLength(2)
  for (const statement of statements) await query(server, statement)

  const urlOf = (username: string) =>
    Object.assign(new URL(server), { username, password, pathname: name }).href
  for (const service of SERVICES) {
    const migrations = new URL(`services/${service}/migrations/`, PROJECT)
    await migrate(urlOf(name), service, migrations, urlOf(`${name}_${service}`))
  }
  const [row] = await query<{ isSuper: string }>(
    urlOf(name),
    `select current_setting('is_superuser') as "isSuper"`,
  )
  expect(row?.isSuper).toBe('off')
  for (const service of SERVICES) {
    const [{ open } = { open: '' }] = await query<{ open: string }>(
      urlOf(`${name}_${service}`),
      `select string_agg(nspname, ',') as open from pg_namespace
        where nspname in (${SERVICES.map((each) => `'${each}'`)})
          and has_schema_privilege(oid, 'usage')`,
    )
    expect(open).toBe(service)
  }
})
