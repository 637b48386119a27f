import { expect, test } from 'vitest'
import { AnalysisCache } from '../src/analysis/analysis-cache.ts'
import { startPool } from './analysis-fixture.ts'
import { setup, sourceOf, uploadOf } from './catalog-fixture.ts'

const SMALL = sourceOf('default', 'small')

/** Creates a source of about 1 MiB that differs from all before it. */
let made = 0
function large(): Buffer {
  const task = (i: number) =>
    `@task\nasync def f_${i}(a, b):\n    return await g(a, [b, 1], {"k": b})\n\n`
  const tasks = Array.from({ length: 13_000 }, (_, i) => task(i)).join('')
  return Buffer.from(`from windlass import task, workflow\n# ${made++}\n${tasks}${SMALL}`)
}

test('source over the time limit: refused, later sources are analysed', async () => {
  const pool = startPool({ maxCpuMs: 300 })
  for (let round = 0; round < 2; round++) {
    const slow = [pool.analyse(large()), pool.analyse(large())]
    for (const outcome of await Promise.allSettled(slow)) {
      expect(outcome).toMatchObject({
        reason: { kind: 'invalid', message: expect.stringContaining('takes more than 300 ms') },
      })
    }
    // On a busy machine a new thread can exceed the limit with its first source.
    const read = () => pool.analyse(SMALL).then(([workflow]) => workflow?.name)
    await expect.poll(() => read().catch(() => undefined)).toBe('small')
  }
})

test('starved process: the source is not refused for its time', async () => {
  const readCpuMs = () => 0
  expect(await startPool({ maxCpuMs: 20, readCpuMs }).analyse(large())).toMatchObject([
    { name: 'small' },
  ])
  await expect(
    startPool({ maxCpuMs: 20, maxWallMs: 60, readCpuMs }).analyse(large()),
  ).rejects.toMatchObject({
    kind: 'unavailable',
  })
})

test('source over the memory limit: refused, later sources are analysed', async () => {
  const pool = startPool()
  const signs = Buffer.from(`from windlass import workflow\nx = ${'-'.repeat(1_000_000)}1\n`)
  await expect(pool.analyse(signs)).rejects.toMatchObject({
    kind: 'invalid',
    message:
      'Workflow source could not be parsed: its analysis exceeds the memory limit; split the file.',
  })
  expect(await pool.analyse(SMALL)).toMatchObject([{ name: 'small' }])
})

test('large source in progress: small sources are answered first', async () => {
  const pool = startPool()
  const orderOfAnswers = async () => {
    const order: string[] = []
    const slow = pool.analyse(large()).then(() => order.push('large'))
    for (let i = 0; i < 5; i++) await pool.analyse(SMALL).then(() => order.push('small'))
    await slow
    return order
  }
  // The second thread starts on demand, so the first rounds may differ.
  const wanted = [...Array(5).fill('small'), 'large']
  await expect.poll(orderOfAnswers).toEqual(wanted)
})

test('full queue: further sources are unavailable, queued ones are answered', async () => {
  const pool = startPool()
  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => pool.analyse(SMALL)))
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  for (const { reason } of refused) expect(reason).toMatchObject({ kind: 'unavailable' })
  expect(outcomes.length - refused.length).toBeGreaterThanOrEqual(64)
})

test('a queue that one principal has filled: a source of another one is analysed', async () => {
  const { client, namespace } = await setup()
  const analyse = (name: string, subject: string) =>
    client.analyze({ source: sourceOf(namespace, name) }, { caller: { subject, issuer: 'svc' } })
  const filling = Array.from({ length: 300 }, (_, i) => analyse(`w${i}`, 'ann'))
  const other = analyse('other', 'bob')
  const outcomes = await Promise.allSettled(filling)
  expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
  expect((await other).workflows).toMatchObject([{ name: 'other' }])
})

test('analysis and registration of one source: analysed once', async () => {
  let reads = 0
  const pool = startPool()
  const analyzer = new AnalysisCache((source) => {
    reads++
    return pool.analyse(source)
  })
  const [first, second] = await Promise.all([analyzer.analyse(SMALL), analyzer.analyse(SMALL)])
  expect(await analyzer.analyse(Buffer.from(SMALL))).toBe(first)
  expect(second).toBe(first)
  expect(reads).toBe(1)
  await expect(analyzer.analyse(Buffer.from('x = 1'))).rejects.toThrow()
  await expect(analyzer.analyse(Buffer.from('x = 1'))).rejects.toThrow()
  expect(reads).toBe(3)
})

test('cache over its size: the least recently used entry is analysed again', async () => {
  let reads = 0
  const [workflow] = await startPool().analyse(SMALL)
  const heavy = workflow && { ...workflow, metadata_json: `"${'x'.repeat(1_000_000)}"` }
  const analyzer = new AnalysisCache(async () => {
    reads++
    return heavy ? [heavy] : []
  })
  const sources = Array.from({ length: 20 }, (_, i) => Buffer.from(`${i}`))
  for (const source of sources) await analyzer.analyse(source)
  for (const source of sources.slice(-4)) await analyzer.analyse(source)
  expect(reads).toBe(20)
  await analyzer.analyse(sources[0] as Buffer)
  expect(reads).toBe(21)
})

test('source with module-level statements: nothing is executed', async () => {
  const { client, namespace } = await setup()
  const source = Buffer.concat([
    Buffer.from('import os\nos.kill(os.getppid(), 9)\nwhile True:\n    pass\n'),
    sourceOf(namespace, 'job'),
  ])
  const { workflows } = await client.register(uploadOf(source))
  expect(workflows[0]).toMatchObject({
    name: 'job',
    version: 1,
    imports: ['os', 'windlass.workflow'],
  })
})
