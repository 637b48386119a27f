import { ApprovalsService } from '@windlass/proto/windlass/executions/v1/executions'
import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { create, keepActive, setup, submit, worker } from './executions-fixture.ts'
import { searchSetup } from './history-fixture.ts'

const READERS = 30
const LOCK = 4_711

/** Searches by payload that last until the returned function is called. */
async function slowSearches({ client, db, search }: Awaited<ReturnType<typeof searchSetup>>) {
  await submit(client, create())
  await db.run(sql`
    create or replace function text_at(document json, path text[]) returns text language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(4711);
      return null;
    end $$`)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let holder: Promise<void> | undefined
  await new Promise<void>((locked) => {
    holder = db.tx(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(${LOCK}::bigint)`)
      const stop = keepActive(tx)
      locked()
      await released
      stop()
    })
  })
  const payload = { output: false, path: ['n'], value: '1' }
  const searches = Array.from({ length: READERS }, () => search({ payload }).catch(() => undefined))
  const end = async () => {
    release()
    await Promise.all([holder, ...searches])
  }
  onTestFinished(end)
  const countWaiting = async () => {
    const rows = await db.rows(
      sql`select from pg_locks where locktype = 'advisory' and not granted`,
    )
    return rows.length
  }
  await expect.poll(countWaiting).toBeGreaterThan(2)
}

test('R3: more slow searches than connections: executions are created, leased, claimed and ended meanwhile', async () => {
  const all = await searchSetup()
  await slowSearches(all)
  const one = worker(all.client)
  const command = create()
  await submit(all.client, command)
  await one.lease()
  await one.claim(command.execution_id)
  const ended = await one.report(command.execution_id, 'COMPLETED', { output_json: '1' })
  expect(ended).toMatchObject({ state: 'COMPLETED' })
})

test('R3: more slow lists of approvals than connections: an execution is created and ends meanwhile', async () => {
  const { client, db, ports } = await setup()
  const approvals = clientOf(ApprovalsService, [`127.0.0.1:${ports[0]}`])
  onTestFinished(() => approvals.close())
  await db.tx(async (tx) => {
    await tx.run(sql`lock table approvals`)
    const stop = keepActive(tx)
    let ended = 0
    const list = () => approvals.list(EVERYTHING).finally(() => ended++)
    const lists = Promise.allSettled(Array.from({ length: READERS }, list))
    onTestFinished(async () => void (await lists))
    const waiting = sql`select from pg_locks where locktype = 'relation' and not granted`
    await expect.poll(async () => (await db.rows(waiting)).length).toBeGreaterThan(2)
    const one = worker(client)
    const command = create()
    await submit(client, command)
    await one.lease()
    await one.claim(command.execution_id)
    await one.report(command.execution_id, 'COMPLETED', { output_json: '1' })
    expect(ended).toBe(0)
    stop()
  })
})

const EVERYTHING = {
  ...{ status: '', execution_id: '', workflow_namespace: '', workflow_name: '', task_name: '' },
  ...{ task_call_id: '', requested_before: undefined, within: [], limit: 20, offset: 0 },
}

test('a search by payload with a large offset: reads no more documents than without one', async () => {
  const { db, search } = await searchSetup()
  const requirement = newId()
  await db.run(sql`insert into requirements values (${requirement}, '{}')`)
  await db.run(sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, input, input_bytes, created_by, finished_at)
    select gen_random_uuid(), gen_random_uuid(), 'team', 'many', 1, ${requirement}, 'COMPLETED',
           '{}', 2, 'ann', now()
      from generate_series(1, 25000)`)
  await db.run(sql`insert into totals values ('team', 'many', 'COMPLETED', 25000)`)
  await db.run(sql`create sequence documents`)
  await db.run(sql`grant all on sequence documents to public`)
  await db.run(sql`
    create or replace function text_at(document json, path text[]) returns text language plpgsql as $$
    begin
      perform nextval('documents');
      return null;
    end $$`)
  const readDocuments = async (offset: number) => {
    await db.run(sql`alter sequence documents restart`)
    const payload = { output: false, path: ['n'], value: '1' }
    const { cut } = await search({ payload, workflow_name: 'many', offset })
    const row = await db.maybe<{ n: number }>(sql`select last_value::int as n from documents`)
    return { cut, documents: row?.n }
  }
  const without = await readDocuments(0)
  expect(without.cut).toBe(true)
  expect(await readDocuments(1_000_000)).toMatchObject({ cut: true })
  expect((await readDocuments(1_000_000)).documents).toBeLessThanOrEqual(without.documents ?? 0)
})
