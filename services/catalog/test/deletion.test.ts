import { ALL_WORKFLOWS } from '@windlass/domain/list-workflows'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { setup, sourceOf, uploadOf } from './catalog-fixture.ts'

/** Starts a catalog with three versions of the workflow `job`. */
async function threeVersions() {
  const bundle = await setup()
  const { client, namespace } = bundle
  const name = { namespace, name: 'job' }
  const ids = new Map<number, string>()
  for (let version = 1; version <= 3; version++) {
    const source = Buffer.concat([sourceOf(namespace, 'job'), Buffer.from(`# ${version}\n`)])
    const { workflows } = await client.register(uploadOf(source))
    ids.set(version, workflows[0]?.id ?? '')
  }
  const latest = async () => (await client.resolve({ ...name, version: 0 })).version
  return { ...bundle, name, ids, latest }
}

test('deleted version: found by its id only', async () => {
  const { client, name, ids, latest } = await threeVersions()
  expect(await client.delete({ ...name, version: 2 })).toEqual({ deleted: 1 })
  await expect(client.get({ ...name, version: 2 })).rejects.toMatchObject({
    kind: 'not_found',
    message: `Workflow '${name.namespace}/job' version 2 not found`,
  })
  const { workflows } = await client.listVersions(name)
  expect(workflows.map(({ version }) => version)).toEqual([3, 1])
  expect(await latest()).toBe(3)
  const kept = await client.getById({ id: ids.get(2) ?? '' })
  expect(kept).toMatchObject({ version: 2, name: 'job' })
  expect(Buffer.from(kept.source).toString()).toContain('# 2')
})

test('latest version deleted: the one before is the latest', async () => {
  const { client, name, latest } = await threeVersions()
  await client.delete({ ...name, version: 3 })
  expect(await latest()).toBe(2)
})

test('upload after a deletion: a new version number', async () => {
  const { client, name, latest } = await threeVersions()
  const source = sourceOf(name.namespace, 'job')
  await client.delete({ ...name, version: 3 })
  await client.register(uploadOf(source))
  expect(await latest()).toBe(4)
  expect(await client.delete({ ...name, version: 0 })).toEqual({ deleted: 3 })
  await client.register(uploadOf(source))
  expect(await latest()).toBe(5)
})

test('all versions deleted: the workflow is not found', async () => {
  const { client, name } = await threeVersions()
  await client.delete({ ...name, version: 0 })
  const gone = { kind: 'not_found', message: `Workflow '${name.namespace}/job' not found` }
  await expect(client.resolve({ ...name, version: 0 })).rejects.toMatchObject(gone)
  await expect(client.listVersions(name)).rejects.toMatchObject(gone)
  await expect(client.delete({ ...name, version: 0 })).rejects.toMatchObject(gone)
  expect(await client.list({ ...ALL_WORKFLOWS, namespace: name.namespace })).toEqual({
    workflows: [],
  })
})

test('delete of an unknown version: not found, no event', async () => {
  const { client, db, name } = await threeVersions()
  await expect.poll(() => db.rows(sql`select 1 from outbox`)).toEqual([])
  await expect(client.delete({ ...name, version: 9 })).rejects.toMatchObject({
    kind: 'not_found',
    message: `Workflow '${name.namespace}/job' version 9 not found`,
  })
  await expect(client.delete({ ...name, name: 'x', version: 0 })).rejects.toMatchObject({
    kind: 'not_found',
  })
  expect(await db.rows(sql`select 1 from outbox`)).toEqual([])
})

test('malformed or unknown id: not found', async () => {
  const { client } = await setup()
  for (const id of ['', 'x', '0'.repeat(32)]) {
    await expect(client.getById({ id })).rejects.toMatchObject({ kind: 'not_found' })
  }
})

test('deletions during uploads: later versions remain, numbers have no gap', async () => {
  const { client, db, namespace, name } = await threeVersions()
  const source = sourceOf(namespace, 'job')
  const changes = Array.from({ length: 12 }, (_, i) =>
    i % 3 === 2
      ? client.delete({ ...name, version: 0 }).catch(() => ({ deleted: 0 }))
      : client.register(uploadOf(source)),
  )
  await Promise.all(changes)
  const { workflows } = await client.register(uploadOf(source))
  expect(workflows[0]?.version).toBe(12)
  const rows = await db.rows<{ version: number }>(
    sql`select version from versions order by version`,
  )
  expect(rows.map(({ version }) => version)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
})
