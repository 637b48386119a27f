import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { setup, sourceOf, uploadOf } from './setup.ts'

const numbered = ({ workflows }: { workflows: { name: string; version: number; id: string }[] }) =>
  workflows.map(({ name, version }) => `${name} ${version}`)

async function world() {
  const bundle = await setup()
  const { client, namespace } = bundle
  const upload = (if_changed: boolean, ...names: string[]) =>
    client.register({ ...uploadOf(sourceOf(namespace, ...names)), if_changed })
  return { ...bundle, upload }
}

test('the same source is a new version, unless only changed ones are asked for', async () => {
  const { client, namespace, upload } = await world()
  const [first, again] = [await upload(true, 'a'), await upload(true, 'a')]
  expect(numbered(first)).toEqual(['a 1'])
  expect(again.workflows).toEqual(first.workflows)
  expect(numbered(await upload(false, 'a'))).toEqual(['a 2'])
  expect(numbered(await upload(true, 'a'))).toEqual(['a 2'])
  const { workflows } = await client.listVersions({ namespace, name: 'a' })
  expect(workflows.map(({ version }) => version)).toEqual([2, 1])
})

test('each workflow of a file is judged by its own latest version', async () => {
  const { client, db, namespace, upload } = await world()
  await upload(false, 'a', 'b')
  await upload(false, 'b')
  expect(numbered(await upload(true, 'a', 'b'))).toEqual(['a 1', 'b 3'])
  // The latest but one came from this source, the latest did not.
  expect(numbered(await upload(true, 'b'))).toEqual(['b 4'])
  await client.delete({ namespace, name: 'b', version: 4 })
  expect(numbered(await upload(true, 'a', 'b'))).toEqual(['a 1', 'b 3'])
  await client.delete({ namespace, name: 'a', version: 0 })
  expect(numbered(await upload(true, 'a', 'b'))).toEqual(['a 2', 'b 3'])
  const told = await db.rows<{ count: number }>(sql`select count(*)::int as count from versions`)
  expect(told).toEqual([{ count: 6 }])
})

test('of many at the same time one makes the version', async () => {
  const { serve, client, namespace, upload } = await world()
  const { client: other } = await serve()
  const all = await Promise.all(
    Array.from({ length: 16 }, (_, i) =>
      (i % 2 ? client : other).register({
        ...uploadOf(sourceOf(namespace, 'a')),
        if_changed: true,
      }),
    ),
  )
  expect(new Set(all.flatMap(numbered))).toEqual(new Set(['a 1']))
  expect(new Set(all.map(({ workflows }) => workflows[0]?.id)).size).toBe(1)
  expect(numbered(await upload(false, 'a'))).toEqual(['a 2'])
})
