import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { OTHER, setup, token } from './execution-token-fixture.ts'

/** The gateway with the execution of the token and another one. */
async function withOther(fields: { parent_id?: string; state?: string }) {
  const made = await setup()
  const parent = made.executions.rows.get(ID)?.execution ?? expect.unreachable()
  const execution = { ...parent, execution_id: OTHER, ...fields }
  made.executions.rows.set(OTHER, { execution, log: [] })
  const cancel = (path: string) => made.ask(`/workers/w1/nested/${path}/cancel`, token)
  const cancelled = () =>
    made.executions.commands.flatMap(({ execution_id, body }) =>
      body?.$case === 'cancel' ? [execution_id] : [],
    )
  return { cancel, cancelled }
}

test('a nested run of the own execution: cancelled', async () => {
  const { cancel, cancelled } = await withOther({ parent_id: ID })
  expect((await cancel(`${ID}/${OTHER}`)).status).toBe(200)
  expect(cancelled()).toEqual([OTHER])
})

test('a nested run that has ended: its state, unchanged', async () => {
  const { cancel, cancelled } = await withOther({ parent_id: ID, state: 'COMPLETED' })
  expect(await cancel(`${ID}/${OTHER}`)).toEqual({ status: 200, body: { state: 'COMPLETED' } })
  expect(cancelled()).toEqual([])
})

test.for([
  ['one of another parent', `${ID}/${OTHER}`, 404],
  ['one that does not exist', `${ID}/${ID.replace('0', '2')}`, 404],
  ['the execution itself', `${ID}/${ID}`, 404],
  ['under another execution', `${OTHER}/${ID}`, 403],
] as const)('cancel of %s: refused, nothing is cancelled', async ([, path, status]) => {
  const { cancel, cancelled } = await withOther({ parent_id: OTHER })
  expect((await cancel(path)).status).toBe(status)
  expect(cancelled()).toEqual([])
})
