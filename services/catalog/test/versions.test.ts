import { ALL_WORKFLOWS, readWorkflows } from '@windlass/domain/list-workflows'
import { readGeneration } from '@windlass/runtime/cache-generation'
import { sql } from '@windlass/runtime/postgres/sql'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { expect, onTestFinished, test } from 'vitest'
import { setup, sourceOf, uploadOf } from './catalog-fixture.ts'

test('uploads one after another: version numbers grow', async () => {
  const { client, namespace } = await setup()
  const source = sourceOf(namespace, 'job')
  const versions: (number | undefined)[] = []
  for (let i = 0; i < 4; i++) {
    versions.push((await client.register(uploadOf(source))).workflows[0]?.version)
  }
  expect(versions).toEqual([1, 2, 3, 4])
})

test('upload: stored as analysed, with its bytes and its uploader', async () => {
  const { client, namespace } = await setup()
  const source = Buffer.from(`\ufeff# grüße 🚀\r
from windlass import workflow, ExecutionContext, ResourceRequest\r
@workflow.with_options(namespace="${namespace}", affinity={"zone": "a"}, runner="inprocess",\r
                       requests=ResourceRequest(memory="1Gi"))\r
async def job(ctx: ExecutionContext[int]):\r
    """Does it."""\r
`)
  const analysed = await client.analyze({ source })
  const caller = { subject: 'ann', issuer: 'svc' }
  const { workflows } = await client.register(uploadOf(source), { caller })
  const [registered] = workflows
  const stored = await client.get({ namespace, name: 'job', version: 0 })
  const { namespace: _, ...analysedRequirement } = stored.requirement ?? expect.unreachable()
  expect(stored).toEqual({ ...registered, source, requirement: stored.requirement })
  expect(stored).toMatchObject({
    namespace,
    name: 'job',
    version: 1,
    imports: ['windlass.workflow', 'windlass.ExecutionContext', 'windlass.ResourceRequest'],
    requests_json: '{"memory":"1Gi"}',
    affinity_json: '{"zone":"a"}',
    requirement: {
      ...{ memory: 2 ** 30, affinity: { zone: 'a' }, packages: [], runner: 'inprocess' },
      namespace: stored.namespace,
    },
    input_schema_json: '{"type":"integer"}',
    created_by: 'ann',
    created_by_issuer: 'svc',
    created_at: expect.any(Date),
  })
  expect(JSON.parse(stored.metadata_json)).toMatchObject({
    task_names: [],
    description: 'Does it.',
    runner: 'inprocess',
    input_schema: { type: 'integer' },
  })
  expect(analysed.workflows[0]).toMatchObject({
    id: '',
    version: 0,
    metadata_json: stored.metadata_json,
    requirement: analysedRequirement,
  })
  expect(await client.getById({ id: stored.id })).toEqual(stored)
  const resolved = await client.resolve({ namespace, name: 'job', version: 1 })
  expect(resolved).toEqual({ ...stored, source: Buffer.alloc(0) })
})

test('several workflows of one file: one stored copy', async () => {
  const { client, db, namespace } = await setup()
  const source = sourceOf(namespace, 'a', 'b', 'c')
  await client.register(uploadOf(source))
  await client.register(uploadOf(source))
  expect(await db.rows(sql`select bytes from sources`)).toEqual([{ bytes: source }])
})

test('refused source: no workflow is stored', async () => {
  const { client, db, namespace } = await setup()
  const source = Buffer.concat([
    sourceOf(namespace, 'good'),
    Buffer.from('@workflow\nasync def broken(:\n'),
  ])
  await expect(client.register(uploadOf(source))).rejects.toMatchObject({
    kind: 'invalid',
    details: { line: expect.any(Number), column: expect.any(Number), text: expect.any(String) },
  })
  expect(await db.rows(sql`select 1 from versions`)).toEqual([])
})

test('failed insert: no workflow is stored, no number is used', async () => {
  const { client, db, namespace } = await setup()
  await db.run(sql`alter table versions add constraint no_b check (name <> 'b' or version <> 1)`)
  const both = sourceOf(namespace, 'a', 'b')
  await expect(client.register(uploadOf(both))).rejects.toThrow()
  expect(await db.rows(sql`select 1 from versions`)).toEqual([])
  expect(await db.rows(sql`select 1 from outbox`)).toEqual([])
  await db.run(sql`alter table versions drop constraint no_b`)
  const { workflows } = await client.register(uploadOf(both))
  expect(workflows.map(({ version }) => version)).toEqual([1, 1])
})

test('source over the size limit: refused before the analysis', async () => {
  const { client } = await setup({ SVC_CATALOG__MAX_WORKFLOW_UPLOAD_BYTES: '1000' })
  const source = Buffer.alloc(1001, '#')
  await expect(client.analyze({ source })).rejects.toMatchObject({
    kind: 'too_large',
    message: 'Workflow source too large: more than 1000 bytes',
  })
})

test('lists: the latest version of each workflow, by namespace and name', async () => {
  const { client, namespace } = await setup()
  await client.register(uploadOf(sourceOf(`${namespace}b`, 'z')))
  await client.register(uploadOf(sourceOf(namespace, 'b', 'B', 'é')))
  await client.register(uploadOf(sourceOf(namespace, 'b')))
  const rows = ({ workflows }: Awaited<ReturnType<typeof client.list>>) =>
    workflows.map(({ namespace, name, version }) => [namespace, name, version])
  const ours = [
    [namespace, 'B', 1],
    [namespace, 'b', 2],
    [namespace, 'é', 1],
  ]
  expect(rows(await client.list({ ...ALL_WORKFLOWS, namespace }))).toEqual(ours)
  expect(rows(await client.list({ ...ALL_WORKFLOWS, namespace: '' }))).toEqual([
    ...ours,
    [`${namespace}b`, 'z', 1],
  ])
  expect(rows(await client.list({ ...ALL_WORKFLOWS, namespace: 'none' }))).toEqual([])
  const versions = await client.listVersions({ namespace, name: 'b' })
  expect(versions.workflows.map(({ version }) => version)).toEqual([2, 1])
  await expect(client.listVersions({ namespace, name: 'x' })).rejects.toMatchObject({
    kind: 'not_found',
    message: `Workflow '${namespace}/x' not found`,
  })
})

test('name in any Unicode normal form: found', async () => {
  const { client, namespace } = await setup()
  await client.register(uploadOf(sourceOf(namespace, 'e\u0301')))
  const { name } = await client.resolve({ namespace, name: '\u00e9', version: 0 })
  expect(await client.resolve({ namespace, name: 'e\u0301', version: 1 })).toMatchObject({ name })
})

test('upload and deletion: a new cache generation before the answer', async () => {
  const { client, redis: url, namespace } = await setup()
  const redis = openRedis(url)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const epochs = [await readGeneration(redis, 'catalog')]
  await client.register(uploadOf(sourceOf(namespace, 'job')))
  epochs.push(await readGeneration(redis, 'catalog'))
  await client.delete({ namespace, name: 'job', version: 0 })
  epochs.push(await readGeneration(redis, 'catalog'))
  expect(epochs).not.toContain(undefined)
  expect(new Set(epochs).size).toBe(3)
})

test('upload without Redis: committed but unavailable, a loop invalidates the caches', async () => {
  const { serve, db, redis: url, namespace } = await setup()
  const { client: cut } = await serve({ SVC_REDIS__URL: 'redis://127.0.0.1:1' })
  const redis = openRedis(url)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const before = await readGeneration(redis, 'catalog')
  const upload = cut.register(uploadOf(sourceOf(namespace, 'job')))
  await expect(upload).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await cut.resolve({ namespace, name: 'job', version: 0 })).toMatchObject({ version: 1 })
  const pending = () => db.rows(sql`select 1 from pending_epochs`)
  await expect.poll(pending).toEqual([])
  expect(await readGeneration(redis, 'catalog')).not.toBe(before)
})

test('lists of names, of workflows that declare a mebibyte: as long as their names', async () => {
  const { client, db, namespace } = await setup()
  await client.register(uploadOf(sourceOf(namespace, 'a', 'b')))
  await db.run(sql`
    update versions
       set metadata = json_build_object('note', repeat('x', 1048576)),
           imports = json_build_array(repeat('y', 1048576))`)
  const { workflows } = await client.list({ ...ALL_WORKFLOWS, names_only: true })
  expect(workflows.map(({ name, version }) => [name, version])).toEqual([
    ['a', 1],
    ['b', 1],
  ])
  expect(JSON.stringify(workflows).length).toBeLessThan(2_000)
})

test('more workflows than one page has, some deleted: each is read once, in small answers', async () => {
  const { client, namespace } = await setup()
  const names = Array.from({ length: 120 }, (_, i) => `w${String(i).padStart(3, '0')}`)
  await client.register(uploadOf(sourceOf(namespace, ...names)))
  await client.delete({ namespace, name: 'w049', version: 0 })
  const sizes: number[] = []
  const read: string[] = []
  const list = async (request: Parameters<typeof client.list>[0]) => {
    const answer = await client.list(request)
    sizes.push(answer.workflows.length)
    return answer
  }
  for await (const { name } of readWorkflows(list)) read.push(name)
  expect(read).toEqual(names.filter((name) => name !== 'w049'))
  expect(sizes).toEqual([50, 50, 19])
})
