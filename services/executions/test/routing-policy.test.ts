import { expect, test } from 'vitest'
import { cancel, create, resume, run, setup, submit, worker } from './executions-fixture.ts'

const terms = [
  {
    kind: 'prefer',
    selector: 'label:zone',
    op: '==',
    value: { $input: 'customer.zone' },
    weight: 10,
  },
  { kind: 'least', selector: 'load', weight: 1 },
]
const anything = { packages: [], affinity: {}, runner: '' }
const routed = { ...anything, routing_json: JSON.stringify({ terms }) }

/** Two workers of different zones, offered together. */
async function zones() {
  const { client } = await setup()
  const [eu, us] = ['eu', 'us'].map((zone) => ({ zone, ...worker(client, `in-${zone}`) }))
  if (!eu || !us) expect.unreachable()
  const lease = async (among = [eu, us]) => {
    const { requirements } = await client.listReady({ known_ids: [] })
    const { leases } = await client.lease({
      limit: 20,
      offers: among.map(({ worker_name, zone }) => ({
        worker_name,
        session_id: `session of ${worker_name}`,
        connection_generation: 1,
        capacity: 0,
        requirement_ids: requirements.map(({ requirement_id }) => requirement_id),
        facts: { 'label:zone': zone },
        used: 0,
      })),
    })
    return leases.map(({ execution }) => execution)
  }
  return { client, eu, us, lease }
}

test('the policy of a workflow: picks the worker by the input', async () => {
  const { client, lease } = await zones()
  const go = (zone: unknown) =>
    run(client, { requirement: routed, input_json: JSON.stringify({ customer: { zone } }) })
  const wanted = new Map<string, string>()
  // Alone, and then many in one batch.
  for (const zone of ['us', 'us', 'eu', 'us'])
    wanted.set((await go(zone)).execution_id, `in-${zone}`)
  for (const { zone, created } of ['us', 'us', 'us', 'eu'].map((zone) => ({
    zone,
    created: go(zone),
  })))
    wanted.set((await created).execution_id, `in-${zone}`)
  const leased = await lease()
  expect(new Map(leased.map((row) => [row?.execution_id, row?.worker_name]))).toEqual(wanted)
  // The preference matches no worker: the load decides.
  const { execution_id } = await go(null)
  expect(await lease()).toMatchObject([{ execution_id, worker_name: 'in-eu' }])
})

test('executions with different policies: have different requirements in the ready queue', async () => {
  const { client } = await setup()
  await run(client, { requirement: routed })
  await run(client, { requirement: anything })
  const { requirements } = await client.listReady({ known_ids: [] })
  expect(requirements.map(({ requirement }) => requirement?.routing_json).sort()).toEqual(
    [routed.routing_json, undefined].sort(),
  )
})

test('a resumed execution: goes to the worker that paused it, to another one if it is gone', async () => {
  const { client, eu, us, lease } = await zones()
  for (const isGone of [false, true]) {
    const { execution_id } = await run(client, {
      requirement: routed,
      input_json: '{"customer":{"zone":"eu"}}',
    })
    await lease([us])
    await us.claim(execution_id)
    await us.report(execution_id, 'PAUSED', { generation: 1 })
    await resume(client, execution_id, '1')
    const [row] = await (isGone ? lease([eu]) : lease())
    expect(row).toMatchObject({ execution_id, worker_name: isGone ? 'in-eu' : 'in-us' })
    await cancel(client, execution_id)
  }
})

test('an input that a policy reads: stored unchanged', async () => {
  const { client } = await setup()
  const input_json = '{"customer":{"zone":"eu"},"n":9007199254740993,"big":1e400}'
  const created = await submit(client, create({ requirement: routed, input_json }))
  expect(created.input_json).toBe(input_json)
})
