import { path, toExecutionId, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { getMembers } from '@windlass/api-client/payload'
import { stringOf } from '@windlass/runtime/json/json'
import { type ApiCall, createApiCall, serverOptions } from '../api-call.ts'
import { type Command, UsageError } from '../command.ts'
import { filterOptions, filtersOf, pageOf, pageOptions } from '../execution-filters.ts'
import { readInput } from '../input.ts'
import { exitStatusOf, jsonOption, printJson, printRows, printStored } from '../output.ts'
import { PAYLOAD_MS, payloadOf, payloadOptions } from '../payload-options.ts'
import { waitUntilSettled } from '../wait-until-settled.ts'

/** Longer than the time in which a worker must stop a cancelled execution. */
const CANCEL_MS = 290_000

export const executionList: Command = {
  words: 'execution list',
  args: [],
  about: 'List executions, newest first',
  options: {
    ...filterOptions,
    ...pageOptions,
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const { options } = parsed
    const answer = await createApiCall(
      parsed,
      context,
    )({
      method: 'GET',
      path: path`/executions`,
      query: { ...filtersOf(options), ...pageOf(options) },
    })
    if (options.json) printJson(context, answer)
    else {
      const { executions = '[]' } = getMembers(answer, ['executions'])
      const names = ['execution_id', 'workflow_namespace', 'workflow_name', 'state', 'worker_name']
      printRows(executions, names, parsed, context)
    }
    return 0
  },
}

export const executionShow: Command = {
  words: 'execution show',
  args: ['execution_id'],
  about: 'Show an execution, or exactly one of its payloads',
  options: {
    detailed: { type: 'boolean', about: 'print the full context with all events' },
    ...payloadOptions,
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const id = toExecutionId(parsed.args[0] ?? '')
    const call = createApiCall(parsed, context)
    const { detailed } = parsed.options
    const payload = payloadOf(parsed)
    if (payload !== undefined) {
      if (detailed) throw new UsageError(`name either --detailed or --${payload}`)
      const request = { method: 'GET', path: `${path`/executions/${id}`}/${payload}` } as const
      printStored(context, await call({ ...request, timeoutMs: PAYLOAD_MS }))
      return 0
    }
    const query = { detailed: detailed ? 'true' : undefined }
    printJson(context, await call({ method: 'GET', path: path`/executions/${id}`, query }))
    return 0
  },
}

export const executionCancel: Command = {
  words: 'execution cancel',
  args: ['execution_id'],
  about: 'Cancel an execution',
  options: {
    wait: { type: 'boolean', about: 'wait until it is terminal' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const call = createApiCall(parsed, context)
    const id = toExecutionId(parsed.args[0] ?? '')
    const { wait } = parsed.options
    const answer = await call({
      method: 'GET',
      path: `${await workflowPath(call, id)}${path`/cancel/${id}`}`,
      query: { mode: wait ? 'sync' : 'async' },
      timeoutMs: wait ? CANCEL_MS : undefined,
    })
    printJson(context, answer)
    return 0
  },
}

export const executionResume: Command = {
  words: 'execution resume',
  args: ['execution_id', 'input?'],
  about: 'Resume a paused execution with the input of its pause',
  options: {
    async: { type: 'boolean', about: 'do not wait for the result' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const call = createApiCall(parsed, context)
    const id = toExecutionId(parsed.args[0] ?? '')
    const isAsync = parsed.options.async === true
    const request = {
      method: 'POST' as const,
      path: `${await workflowPath(call, id)}${path`/resume/${id}`}/${isAsync ? 'async' : 'sync'}`,
      body: await readInput(parsed.args[1]),
      repeatability: 'once' as const,
    }
    const answer = isAsync ? await call(request) : await waitUntilSettled(call, request)
    printJson(context, answer)
    return isAsync ? 0 : exitStatusOf(answer)
  },
}

/** The path of the workflow of an execution, looked up by its id. */
async function workflowPath(call: ApiCall, id: ReturnType<typeof toExecutionId>): Promise<string> {
  const execution = await call({ method: 'GET', path: path`/executions/${id}` })
  const names = getMembers(execution, ['workflow_namespace', 'workflow_name'])
  const [ns, name] = [stringOf(names.workflow_namespace), stringOf(names.workflow_name)]
  return path`/workflows/${toNamespace(ns ?? '')}/${toWorkflowName(name ?? '')}`
}
