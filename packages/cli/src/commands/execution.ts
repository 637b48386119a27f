import { executionId, namespace, path, workflowName } from '@windlass/mcp/domain/path'
import { pick } from '@windlass/mcp/domain/payload'
import { stringOf } from '@windlass/runtime/json/json'
import { type Call, client, serverOptions } from '../client.ts'
import type { Command } from '../command.ts'
import { inputOf } from '../input.ts'
import { jsonOption, print, printRows, statusOf } from '../output.ts'
import { untilSettled } from '../until-settled.ts'

/** Longer than a worker may take to give up its work. */
const CANCEL_MS = 290_000

export const executionList: Command = {
  words: 'execution list',
  args: [],
  about: 'List executions, newest first',
  options: {
    state: { type: 'string', value: 'STATE', about: 'only in this state' },
    workflow: { type: 'string', value: 'NAME', about: 'only of workflows of this name' },
    limit: { type: 'string', value: 'N', about: 'how many at most (default 50)' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(given, world) {
    const { state, workflow, limit, json } = given.options
    const answer = await client(
      given,
      world,
    )({
      method: 'GET',
      path: path`/executions`,
      query: {
        state: state?.toString(),
        workflow_name: workflow?.toString(),
        limit: limit?.toString(),
      },
    })
    if (json) print(world, answer)
    else {
      const { executions = '[]' } = pick(answer, ['executions'])
      const names = ['execution_id', 'workflow_namespace', 'workflow_name', 'state', 'worker_name']
      printRows(executions, names, given, world)
    }
    return 0
  },
}

export const executionShow: Command = {
  words: 'execution show',
  args: ['execution_id'],
  about: 'Show an execution',
  options: {
    detailed: { type: 'boolean', about: 'print the full context with all events' },
    ...serverOptions,
  },
  async run(given, world) {
    const query = { detailed: given.options.detailed ? 'true' : undefined }
    const id = executionId(given.args[0] ?? '')
    const answer = await client(
      given,
      world,
    )({ method: 'GET', path: path`/executions/${id}`, query })
    print(world, answer)
    return 0
  },
}

export const executionCancel: Command = {
  words: 'execution cancel',
  args: ['execution_id'],
  about: 'Cancel an execution',
  options: {
    wait: { type: 'boolean', about: 'wait until it has ended' },
    ...serverOptions,
  },
  async run(given, world) {
    const call = client(given, world)
    const id = executionId(given.args[0] ?? '')
    const { wait } = given.options
    const answer = await call({
      method: 'GET',
      path: `${await workflowPath(call, id)}${path`/cancel/${id}`}`,
      query: { mode: wait ? 'sync' : 'async' },
      timeoutMs: wait ? CANCEL_MS : undefined,
    })
    print(world, answer)
    return 0
  },
}

export const executionResume: Command = {
  words: 'execution resume',
  args: ['execution_id', 'input?'],
  about: 'Resume a paused execution with what its pause waits for',
  options: {
    async: { type: 'boolean', about: 'do not wait for the end' },
    ...serverOptions,
  },
  async run(given, world) {
    const call = client(given, world)
    const id = executionId(given.args[0] ?? '')
    const isAsync = given.options.async === true
    const request = {
      method: 'POST' as const,
      path: `${await workflowPath(call, id)}${path`/resume/${id}`}/${isAsync ? 'async' : 'sync'}`,
      body: await inputOf(given.args[1]),
    }
    const answer = isAsync ? await call(request) : await untilSettled(call, request)
    print(world, answer)
    return isAsync ? 0 : statusOf(answer)
  },
}

/** The path of the workflow that an execution is of; the server knows, so nobody has to type it. */
async function workflowPath(call: Call, id: ReturnType<typeof executionId>): Promise<string> {
  const execution = await call({ method: 'GET', path: path`/executions/${id}` })
  const names = pick(execution, ['workflow_namespace', 'workflow_name'])
  const [ns, name] = [stringOf(names.workflow_namespace), stringOf(names.workflow_name)]
  return path`/workflows/${namespace(ns ?? '')}/${workflowName(name ?? '')}`
}
