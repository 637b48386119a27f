import { freshSystemDatabase, migrateAll, query, serviceUrl } from '@windlass/testkit/database'
import { withTest } from '@windlass/testkit/defer'
import { dumpAndRestore, dumpObstacle } from '@windlass/testkit/dumped-database'
import { expect, test } from 'vitest'

const PROJECT = new URL('../../../', import.meta.url)
const SERVICES = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']

/** Tables of a schema that the user of a URL may read. */
const readableTables = (url: string, schema: string) =>
  query<{ name: string }>(
    url,
    `select relname as name from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind in ('r', 'p')
        and has_schema_privilege(relnamespace, 'usage') and has_table_privilege(oid, 'select')
      order by relname`,
  )

test('a dump of all schemas, restored and migrated: each service has the rights that it had', async ({
  skip,
}) => {
  const reason = await dumpObstacle()
  if (reason) skip(reason)
  const database = await freshSystemDatabase(PROJECT, withTest)
  const restored = await dumpAndRestore(database)
  const rightsOf = (url: string, service: string) =>
    readableTables(serviceUrl(url, service), service)
  // A dump contains no roles and no rights.
  expect(await rightsOf(restored, 'executions')).toEqual([])
  await migrateAll(restored, PROJECT)
  for (const service of SERVICES) {
    const tables = await rightsOf(restored, service)
    expect(tables.length, service).toBeGreaterThan(0)
    expect(tables, service).toEqual(await rightsOf(database, service))
  }
})
