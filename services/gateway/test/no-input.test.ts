import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'

const RUN = '/workflows/default/hello/run/async'
const JSON_TYPE = { 'content-type': 'application/json' }

const order = {
  title: 'Order',
  type: 'object',
  properties: { item: { type: 'string' }, count: { type: 'integer' }, note: { type: 'string' } },
  required: ['item', 'count'],
}

const withSchema = (schema: unknown) =>
  startGateway({
    catalog: { resolve: async () => workflow({ input_schema_json: JSON.stringify(schema) }) },
  })

const NO_INPUT: [string, RequestInit][] = [
  ['no body', {}],
  ['an empty body', { body: '', headers: JSON_TYPE }],
  ['null', { body: ' null ', headers: JSON_TYPE }],
]

test.each(NO_INPUT)(
  '%s, input of a built-in type: the workflow starts with null',
  async (_, init) => {
    for (const schema of [
      { type: 'object', additionalProperties: true },
      { type: 'array' },
      { type: 'integer' },
      { type: 'object', properties: { note: { type: 'string', default: '' } } },
      { anyOf: [order, { type: 'null' }] },
      { anyOf: [order, { type: 'string' }] },
    ]) {
      const { call, executions } = await withSchema(schema)
      const response = await call('POST', RUN, init)
      expect(response.status, JSON.stringify(schema)).toBe(200)
      const input_json = executions.commands.flatMap(({ body }) =>
        body?.$case === 'create' ? body.value.input_json.trim() : [],
      )
      expect(input_json).toEqual(['null'])
    }
  },
)

test.each(NO_INPUT)('%s, input model with required members: 422 names them', async (_, init) => {
  for (const schema of [order, { $ref: '#/$defs/Order', $defs: { Order: order } }]) {
    const { call, executions } = await withSchema(schema)
    const response = await call('POST', RUN, init)
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({
      detail: [
        { loc: ['body', 'item'], msg: 'Field required', type: 'missing' },
        { loc: ['body', 'count'], msg: 'Field required', type: 'missing' },
      ],
    })
    expect(executions.commands).toEqual([])
  }
})

test('no body, an input that is one of two models: 422 at the body', async () => {
  const { call } = await withSchema({ anyOf: [order, { ...order, required: ['note'] }] })
  const response = await call('POST', RUN)
  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    detail: [{ loc: ['body'], msg: 'Field required', type: 'missing' }],
  })
})

test('a value of another type than the built-in one: 422', async () => {
  const { json } = await withSchema({ type: 'object' })
  expect((await json('POST', RUN, [])).status).toBe(422)
  expect((await json('POST', RUN, false)).status).toBe(422)
})
