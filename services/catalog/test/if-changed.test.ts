import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { setup, sourceOf, uploadOf } from './catalog-fixture.ts'

const numbered = ({ workflows }: { workflows: { name: string; version: number; id: string }[] }) =>
  workflows.map(({ name, version }) => `${name} ${version}`)

async function startUploads() {
  const bundle = await setup()
  const { client, namespace } = bundle
  const upload = (if_changed: boolean, ...names: string[]) =>
    client.register({ ...uploadOf(sourceOf(namespace, ...names)), if_changed })
  return { ...bundle, upload }
}

test('same source again: a new version, with if_changed the same one', async () => {
  const { client, namespace, upload } = await startUploads()
  const [first, again] = [await upload(true, 'a'), await upload(true, 'a')]
  expect(numbered(first)).toEqual(['a 1'])
  expect(again.workflows).toEqual(first.workflows)
  expect(numbered(await upload(false, 'a'))).toEqual(['a 2'])
  expect(numbered(await upload(true, 'a'))).toEqual(['a 2'])
  const { workflows } = await client.listVersions({ namespace, name: 'a' })
  expect(workflows.map(({ version }) => version)).toEqual([2, 1])
})

test('file with several workflows: each is compared with its own latest version', async () => {
  const { client, db, namespace, upload } = await startUploads()
  await upload(false, 'a', 'b')
  await upload(false, 'b')
  expect(numbered(await upload(true, 'a', 'b'))).toEqual(['a 1', 'b 3'])
  // The version before the latest has this source, the latest does not.
  expect(numbered(await upload(true, 'b'))).toEqual(['b 4'])
  await client.delete({ namespace, name: 'b', version: 4 })
  expect(numbered(await upload(true, 'a', 'b'))).toEqual(['a 1', 'b 3'])
  await client.delete({ namespace, name: 'a', version: 0 })
  expect(numbered(await upload(true, 'a', 'b'))).toEqual(['a 2', 'b 3'])
  const stored = await db.rows<{ count: number }>(sql`select count(*)::int as count from versions`)
  expect(stored).toEqual([{ count: 6 }])
})

test('16 concurrent uploads with if_changed: one version', async () => {
  const { serve, client, namespace, upload } = await startUploads()
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
