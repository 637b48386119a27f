import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase, openTestDb } from '@windlass/testkit/database'
import { expect, test } from 'vitest'
import { createTickSweep } from '../src/loops/delete-ticks.ts'

type Tick = [daysAgo: number, status: string, isCompleted?: boolean]

async function withTicks(...schedules: Tick[][]) {
  const url = await freshDatabase('scheduler', new URL('../migrations/', import.meta.url))
  const db = openTestDb(url, 'scheduler')
  for (const [i, ticks] of schedules.entries()) {
    const id = newId()
    await db.run(sql`
      insert into schedules (id, name, workflow_id, workflow_namespace, workflow_name, schedule_type,
        schedule_config, input, input_bytes, changed_by, anchor_at, tick_count)
      values (${id}, ${`${i}`}, ${newId()}, 'n', 'w', 'interval', '{}', '1', 1, '', now(), ${ticks.length})`)
    for (const [days, status, isCompleted = false] of ticks) {
      const nominal = sql`now() - ${days}::int * interval '1 day'`
      await db.run(sql`
        insert into schedule_ticks (schedule_id, nominal_at, status, skipped_from, execution_id, completed_at)
        values (${id}, ${nominal}, ${status}, case when ${status} = 'skipped' then ${nominal} end,
                case when ${status} <> 'skipped' then gen_random_uuid() end,
                case when ${isCompleted} then now() end)`)
    }
  }
  const rest = async () =>
    (
      await db.rows<{ ticks: string[]; tick_count: number }>(sql`
        select tick_count, array(
                 select round(extract(epoch from now() - nominal_at) / 86400) || ' ' || t.status
                   from schedule_ticks t where t.schedule_id = s.id order by nominal_at) as ticks
          from schedules s order by name`)
    ).map(({ ticks, tick_count }) => ({ ticks, tick_count }))
  return { db, rest }
}

async function sweep(db: Awaited<ReturnType<typeof withTicks>>['db']) {
  const round = createTickSweep(db, { tick_days: 7, batch_size: 2 })
  while (await round());
}

test('settled ticks older than their age: deleted, except for the newest; the number agrees', async () => {
  const { db, rest } = await withTicks(
    [
      [40, 'failed'],
      [30, 'skipped'],
      [20, 'started', true],
      [19, 'started', true],
      [9, 'started'],
      [8, 'pending'],
      [1, 'started', true],
    ],
    [
      [90, 'started', true],
      [80, 'started', true],
    ],
    [],
  )
  await sweep(db)
  expect(await rest()).toEqual([
    { ticks: ['9 started', '8 pending', '1 started'], tick_count: 3 },
    { ticks: ['80 started'], tick_count: 1 },
    { ticks: [], tick_count: 0 },
  ])
})

test('a locked schedule: passed over, and swept the next time', async () => {
  const { db, rest } = await withTicks([
    [40, 'failed'],
    [30, 'failed'],
  ])
  await db.tx(async (tx) => {
    await tx.run(sql`select from schedules for update`)
    await sweep(db)
    expect(await rest()).toMatchObject([{ tick_count: 2 }])
  })
  await sweep(db)
  expect(await rest()).toMatchObject([{ tick_count: 1 }])
})
