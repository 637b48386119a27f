import { randomInt } from 'node:crypto'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { setup, sourceOf, uploadOf } from './catalog-fixture.ts'
import { faultsIn, type Upload } from './upload-history.ts'

const ROUNDS = Number(process.env.TEST_ROUNDS ?? 5)
const UPLOADS = 16
/** Files that share workflows in different orders, so that a wrong order of locks would show. */
const FILES = [['a', 'b', 'c'], ['c', 'b', 'a'], ['b'], ['c', 'a']]

test('K1 to K3: 16 concurrent uploads via two replicas with deletions: none lost, partial or misnumbered', async () => {
  const { client, serve, db, namespace } = await setup()
  const { client: other } = await serve()
  const uploads: Upload[] = []
  let serial = 0
  const upload = async (replica: typeof client, names: string[]) => {
    const source = Buffer.concat([sourceOf(namespace, ...names), Buffer.from(`# ${serial++}\n`)])
    const made: Upload = { source, names, sent: performance.now() }
    uploads.push(made)
    const answer = await replica.register(uploadOf(source)).catch(ifOverloaded)
    if (!answer) return
    made.answered = performance.now()
    made.given = new Map(answer.workflows.map(({ name, version }) => [name, version]))
  }
  const erase = (replica: typeof client, name: string) =>
    replica.delete({ namespace, name, version: 0 }).catch(() => undefined)
  for (let round = 0; round < ROUNDS; round++) {
    const changes = Array.from({ length: UPLOADS }, (_, i) =>
      upload(i % 2 ? client : other, FILES[i % FILES.length] as string[]),
    )
    await Promise.all([...changes, erase(client, 'abc'[randomInt(3)] as string)])
  }
  expect(await faultsIn(db, namespace, uploads)).toEqual([])
  expect(uploads.filter(({ given }) => given).length).toBeGreaterThan(uploads.length * 0.9)
})

/** An overloaded pool refuses some uploads; those must leave no trace either. */
function ifOverloaded(error: unknown): undefined {
  if (!(error instanceof Fault && error.kind === 'unavailable')) throw error
}
