import { Execution, type Result } from '@windlass/proto/windlass/executions/v1/executions'
import { expect, test } from 'vitest'
import { ExecutionsClient } from './executions-client.ts'

const checkpoint = {
  execution_id: '0',
  with_log: false,
  body: {
    $case: 'checkpoint' as const,
    value: { writer: undefined, state: 'COMPLETED', output_json: '', events: [] },
  },
}

/** A client whose commands are all answered with this state. */
function clientAnswering(state: string, onSettled: () => void): ExecutionsClient {
  const execution = { ...Execution.decode(new Uint8Array()), execution_id: '0', state }
  const result: Result = { body: { $case: 'execution', value: execution }, log: [] }
  const rpc = {
    submit: ({ commands }: { commands: unknown[] }) =>
      Promise.resolve({ results: commands.map(() => result) }),
  }
  return new ExecutionsClient(
    rpc as unknown as ConstructorParameters<typeof ExecutionsClient>[0],
    { signCaller: () => '' },
    { sender: '', onSettled },
  )
}

test('a checkpoint ends an execution: the request that waits for the end is answered before the worker', async () => {
  const order: string[] = []
  const answerClient = async () => {
    // As many steps as there may be between the signal and the answer.
    for (let i = 0; i < 50; i++) await undefined
    order.push('client')
  }
  const client = clientAnswering('COMPLETED', () => void answerClient())
  await client.submit(checkpoint)
  order.push('worker')
  expect(order).toEqual(['client', 'worker'])
})

test('a checkpoint that ends no execution: no request is signalled', async () => {
  let signals = 0
  const client = clientAnswering('RUNNING', () => signals++)
  await client.submit(checkpoint)
  expect(signals).toBe(0)
})
