import { expect, test } from 'vitest'
import { setup, uploadOf } from './catalog-fixture.ts'

const source = (namespace: string, options: string, input: string) =>
  Buffer.from(`from windlass import ExecutionContext, workflow
@workflow.with_options(namespace="${namespace}"${options})
async def job(ctx: ExecutionContext[${input}]):
    return 1
`)

async function twoVersions() {
  const { client, namespace } = await setup()
  await client.register(uploadOf(source(namespace, '', 'int')))
  await client.register(uploadOf(source(namespace, ', affinity={"zone": "a"}', 'int | None')))
  const diff = (from_version: number, to_version: number) =>
    client.diff({ namespace, name: 'job', from_version, to_version })
  return { client, namespace, diff }
}

test('two versions: differences of declarations, inputs and source', async () => {
  const { namespace, diff } = await twoVersions()
  expect(await diff(1, 2)).toEqual({
    changes: [{ member: 'affinity', from_json: '', to_json: '{"zone":"a"}' }],
    input: {
      from_json: '{"type":"integer"}',
      to_json: '{"anyOf":[{"type":"integer"},{"type":"null"}]}',
      compatibility: 'compatible',
      of_named_members: 'compatible',
      problems: [],
      example_json: '',
    },
    source: {
      added: 2,
      removed: 2,
      patch: `@@ -1,4 +1,4 @@
 from windlass import ExecutionContext, workflow
-@workflow.with_options(namespace="${namespace}")
-async def job(ctx: ExecutionContext[int]):
+@workflow.with_options(namespace="${namespace}", affinity={"zone": "a"})
+async def job(ctx: ExecutionContext[int | None]):
     return 1
`,
    },
  })
})

test('narrowed input: incompatible with a counterexample', async () => {
  const { diff } = await twoVersions()
  expect((await diff(2, 1)).input).toMatchObject({
    compatibility: 'incompatible',
    of_named_members: 'incompatible',
    problems: [{ loc_json: '[]', msg: 'null is refused' }],
    example_json: 'null',
  })
})

test('same version: no difference; missing version: not found', async () => {
  const { client, namespace, diff } = await twoVersions()
  expect(await diff(2, 2)).toMatchObject({ changes: [], source: { patch: '' } })
  for (const [a, b] of [
    [1, 3],
    [3, 1],
  ] as const) {
    await expect(diff(a, b)).rejects.toMatchObject({
      kind: 'not_found',
      message: `Workflow '${namespace}/job' version 3 not found`,
    })
  }
  await client.delete({ namespace, name: 'job', version: 1 })
  await expect(diff(1, 2)).rejects.toMatchObject({ kind: 'not_found' })
})
