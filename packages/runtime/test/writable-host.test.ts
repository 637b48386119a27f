import { pathToFileURL } from 'node:url'
import { emptyDatabase, query, serviceUrl } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { freePort } from '@windlass/testkit/ports'
import { startReplicatedPostgres, withHosts } from '@windlass/testkit/replicated-postgres'
import { expect, onTestFinished, test } from 'vitest'
import { openDb } from '../src/postgres/db.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { toOutageFault } from '../src/postgres/outage.ts'
import { sql } from '../src/postgres/sql.ts'
import { hostUrls } from '../src/postgres/writable-host.ts'

const open = (url: string) => {
  const db = openDb(url, 'public')
  onTestFinished(() => db.close())
  return db
}

test.each([
  ['postgres://u:s@a:1/d', ['postgres://u:s@a:1/d'], false],
  ['postgres://u:s@a:1/d?sslmode=disable', ['postgres://u:s@a:1/d?sslmode=disable'], false],
  ['postgresql://u:s@a,b:2/d', ['postgresql://u:s@a/d', 'postgresql://u:s@b:2/d'], true],
  ['postgres://a/d?target_session_attrs=read-write', ['postgres://a/d'], true],
  [
    'postgres://u@[::1]:1,b/d?target_session_attrs=primary&sslmode=verify-full',
    ['postgres://u@[::1]:1/d?sslmode=verify-full', 'postgres://u@b/d?sslmode=verify-full'],
    true,
  ],
])('hosts of %s: one URL for each', (url, urls, mustWrite) => {
  expect(hostUrls(url)).toEqual({ urls, mustWrite })
})

test('URL that asks for a standby: refused with the setting, without the password', () => {
  const url = 'postgres://u:s3cret@a,b/d?target_session_attrs=prefer-standby'
  expect(() => openDb(url, 'public')).toThrow(
    '[svc.postgres].url: target_session_attrs is prefer-standby',
  )
})

test('first host down: connections and migrations use the second one, with the role of the service', async () => {
  const database = await emptyDatabase()
  const port = String(await freePort())
  const both = (url: string) => withHosts(Object.assign(new URL(url), { port }).href, [url])
  const folder = pathToFileURL(`${temporaryFolder('migrations')}/`)
  const role = both(serviceUrl(database, 'catalog'))
  await migrate(both(database), 'catalog', folder, role)
  await migrate(both(database), 'catalog', folder, role)
  expect(await open(role).rows(sql`select current_user as name`)).toEqual([
    { name: 'windlass_catalog' },
  ])
})

test('all hosts read-only: an outage, until one accepts writes', async () => {
  const database = await emptyDatabase()
  const name = new URL(database).pathname.slice(1)
  await query(database, `alter database ${name} set default_transaction_read_only = on`)
  const db = open(withHosts(database, [database]))
  const error = await db.run(sql`select 1`).catch((reason: unknown) => reason)
  expect(toOutageFault(error)?.kind).toBe('unavailable')
  const begin = 'set transaction read write'
  await query(database, `begin; ${begin}; alter database ${name} reset all; commit`)
  expect(await db.rows(sql`select 1 as one`)).toEqual([{ one: 1 }])
})

test('wrong password at every host: not an outage', async () => {
  const url = new URL(await emptyDatabase())
  url.password = 'wrong'
  const error = await open(withHosts(url.href, [url.href]))
    .run(sql`select 1`)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: '28P01' })
  expect(toOutageFault(error)).toBeUndefined()
})

test('primary killed, standby promoted: the pool goes to it, and every acknowledged row is there', async () => {
  const servers = await startReplicatedPostgres()
  await query(servers.url, 'create table rows (n int primary key)')
  const db = open(withHosts(servers.url, [servers.standbyUrl]))
  const acknowledged: number[] = []
  const write = async (n: number) => {
    try {
      await db.run(sql`insert into rows values (${n})`)
      acknowledged.push(n)
    } catch (error) {
      expect(toOutageFault(error)?.kind, String(error)).toBe('unavailable')
    }
  }
  for (let n = 0; n < 50; n++) await write(n)
  expect(acknowledged).toHaveLength(50)
  const killing = servers.kill()
  for (let n = 50; n < 60; n++) await write(n)
  await killing
  await write(60)
  expect(acknowledged).not.toContain(60)
  await servers.promote()
  await expect
    .poll(async () => {
      await write(61)
      return acknowledged.includes(61)
    })
    .toBe(true)
  const rows = await db.rows<{ n: number }>(sql`select n from rows`)
  expect(rows.map(({ n }) => n)).toEqual(expect.arrayContaining(acknowledged))
})
