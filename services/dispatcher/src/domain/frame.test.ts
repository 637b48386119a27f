import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Execution, Lease, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cancelFrame, dispatchFrame, toWorkflowPart } from './frame.ts'

const workflow: Workflow = {
  id: 'a'.repeat(32),
  namespace: 'default',
  name: 'report "x"',
  version: 3,
  source: Buffer.from('print("é")\n'),
  imports: ['windlass.workflow'],
  metadata_json: '{"task_names":["add"],"big":9007199254740993}',
  requests_json: 'null',
  affinity_json: '{"zone": "a"}',
  requirement: undefined,
  input_schema_json: '',
  created_at: undefined,
  created_by: '',
}
const execution: Execution = {
  execution_id: 'e'.repeat(32),
  workflow_id: workflow.id,
  workflow_namespace: 'default',
  workflow_name: workflow.name,
  workflow_version: 3,
  state: 'SCHEDULED',
  worker_name: 'w1',
  claim_generation: 26,
  input_json: '{"a":9007199254740993,"__proto__":1e400}',
  last_seq: 2,
  created_at: undefined,
  updated_at: undefined,
  worker_session: '',
}
const event: LogEntry = {
  seq: 1,
  event_id: '4d41',
  type: 'WORKFLOW_SCHEDULED',
  source_id: 'w1',
  name: 'w1',
  value_json: '',
  time: '2026-11-20T23:59:00.206975',
}
const lease = (change: Partial<Lease> = {}): Lease & { execution: Execution } => ({
  log: [event],
  resumed: false,
  execution_token: '',
  ...change,
  execution: change.execution ?? execution,
})
const part = (change: Partial<Workflow> = {}) => {
  const changed = { ...workflow, ...change }
  return toWorkflowPart(changed, Buffer.from(changed.source).toString('base64'))
}

/** The lines of a frame, and its data parsed. */
function read(frame: string) {
  expect(frame.endsWith('\n\n')).toBe(true)
  const lines = frame.slice(0, -2).split(/\r\n|[\n\r\u0085\u2028\u2029]/)
  expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual(['id', 'event', 'data'])
  const [id, name, data] = lines.map((line) => line.slice(line.indexOf(': ') + 2))
  return { id, event: name, json: data ?? '', data: JSON.parse(data ?? '') }
}

test('dispatch frame of a lease that the first checkpoint may claim: generation and seconds to do so', () => {
  const { data } = read(dispatchFrame(lease({ claim_ms: 1_500 }), part()))
  expect(data.claim).toEqual({ generation: 26, timeout: 1.5 })
})

test('dispatch frame of a transient execution: has to be claimed', () => {
  const transient = part({ metadata_json: '{"durability":"transient"}' })
  expect(read(dispatchFrame(lease({ claim_ms: 1_500 }), transient)).data.claim).toBeUndefined()
})

test('dispatch frame of a workflow that the worker is to keep, or keeps: with and without its source', () => {
  const first = read(dispatchFrame(lease(), part(), { form: 'to_keep' })).data
  const { keep_workflow, ...whole } = first
  expect(keep_workflow).toBe(true)
  expect(whole).toEqual(read(dispatchFrame(lease(), part())).data)
  const { workflow: reference, ...rest } = read(
    dispatchFrame(lease(), part(), { form: 'kept' }),
  ).data
  expect(rest).toEqual({ context: whole.context })
  const { id, name } = workflow
  expect(reference).toEqual({ id, namespace: 'default', name, version: 3 })
})

test('dispatch frame: exactly the members of the worker protocol', () => {
  const { id, event, data } = read(dispatchFrame(lease(), part()))

  expect(id).toBe(`${'e'.repeat(32)}_${'1a'.padStart(32, '0')}`)
  expect(event).toBe('execution_scheduled')
  expect(data).toStrictEqual({
    workflow: {
      id: workflow.id,
      namespace: 'default',
      name: 'report "x"',
      imports: ['windlass.workflow'],
      source: Buffer.from('print("é")\n').toString('base64'),
      version: 3,
      requests: null,
      affinity: { zone: 'a' },
      schedule: null,
      metadata: { task_names: ['add'], big: 9007199254740992 },
    },
    context: {
      workflow_id: workflow.id,
      workflow_namespace: 'default',
      workflow_name: 'report "x"',
      execution_id: execution.execution_id,
      input: JSON.parse('{"a":9007199254740993,"__proto__":1e400}'),
      output: null,
      state: 'SCHEDULED',
      current_worker: 'w1',
      events: [
        {
          type: 'WORKFLOW_SCHEDULED',
          source_id: 'w1',
          name: 'w1',
          value: null,
          time: '2026-11-20T23:59:00.206975',
          id: '4d41',
          subject: null,
        },
      ],
    },
  })
})

test('payloads and metadata: unchanged text', () => {
  const { json } = read(dispatchFrame(lease(), part()))
  expect(json).toContain('"input":{"a":9007199254740993,"__proto__":1e400},')
  expect(json).toContain('"big":9007199254740993')
})

test('exec_token, runner and transient: present only if they have a value', () => {
  const metadata_json = '{"runner":"subprocess","durability":"transient"}'
  const { data } = read(dispatchFrame(lease({ execution_token: 't.t' }), part({ metadata_json })))
  expect(data).toMatchObject({ exec_token: 't.t', runner: 'subprocess', transient: true })

  const plain = read(dispatchFrame(lease(), part({ metadata_json: '{"durability":"durable"}' })))
  expect(Object.keys(plain.data)).toEqual(['workflow', 'context'])
})

test('resumed lease: event execution_resumed; no worker: empty current_worker', () => {
  const { event, data } = read(
    dispatchFrame(lease({ resumed: true, execution: { ...execution, worker_name: '' } }), part()),
  )
  expect(event).toBe('execution_resumed')
  expect(data.context.current_worker).toBe('')
})

test('payload with any line break: the data stays on one line', () => {
  const input_json = '{\r\n\t"a": "x\u2028y\u2029z\u0085",\n"b": "\\n\\r"}'
  const { data } = read(dispatchFrame(lease({ execution: { ...execution, input_json } }), part()))
  expect(data.context.input).toEqual(JSON.parse(input_json))
})

test('any JSON in any layout: the parsed value is unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('', '\n', '\r\n', '\t'), (value, layout) => {
      const input_json = JSON.stringify(value, null, layout)
      const { data } = read(
        dispatchFrame(lease({ execution: { ...execution, input_json } }), part()),
      )
      expect(data.context.input).toEqual(JSON.parse(input_json))
    }),
  )
})

test('cancel frame: contains the context, and the generation of the claim only if it is asked for', () => {
  const cancelled = { ...execution, state: 'CANCELLING', output_json: '"o"' }
  const { event, data } = read(cancelFrame(cancelled, [event0()]))
  expect(event).toBe('execution_cancelled')
  expect(Object.keys(data)).toEqual(['context'])
  expect(data.context).toMatchObject({ state: 'CANCELLING', output: 'o', events: [{ value: [1] }] })
  const named = read(cancelFrame(cancelled, [event0()], { namesClaim: true })).data
  expect(named).toEqual({ ...data, claim_generation: execution.claim_generation })
})

const event0 = (): LogEntry => ({ ...event, value_json: '[1]' })

test('D9: same generation: same frame id; another generation: another id', () => {
  const idOf = (claim_generation: number) =>
    read(dispatchFrame(lease({ execution: { ...execution, claim_generation } }), part())).id
  expect(idOf(3)).toBe(idOf(3))
  expect(idOf(4)).not.toBe(idOf(3))
})

test('dispatch frame of a traced execution: the context of the dispatch, else that of the execution', () => {
  const created = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const traced = lease({ execution: { ...execution, traceparent: created } })
  expect(read(dispatchFrame(traced, part())).data.traceparent).toBe(created)
  const dispatched = `00-${'a'.repeat(32)}-${'c'.repeat(16)}-01`
  expect(read(dispatchFrame(traced, part(), { traceparent: dispatched })).data.traceparent).toBe(
    dispatched,
  )
})
