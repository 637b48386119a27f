import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { path, toExecutionId, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { createApiCall, serverOptions } from '../api-call.ts'
import { type Command, type CommandOption, UsageError } from '../command.ts'
import { parseWorkflowRef, readBytes, readInput } from '../input.ts'
import { exitStatusOf, jsonOption, printJson, printRows, printWarnings } from '../output.ts'
import { priorityOption, readPriority } from '../priority-option.ts'
import { waitUntilSettled } from '../wait-until-settled.ts'

const keyOption: Record<string, CommandOption> = {
  'idempotency-key': {
    type: 'string',
    value: 'KEY',
    about: 'a run that was started with this key in the last 24 hours is not started again',
  },
}

const VERSION = /^[1-9]\d{0,8}$/

const detailedOption: Record<string, CommandOption> = {
  detailed: { type: 'boolean', about: 'print the full context with all events' },
}

export const workflowUpload: Command = {
  words: 'workflow upload',
  args: ['file'],
  about: 'Register the workflows of a Python file',
  options: {
    'dry-run': { type: 'boolean', about: 'show its workflows and register nothing' },
    'if-changed': { type: 'boolean', about: 'register no new version of an unchanged workflow' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const [file = ''] = parsed.args
    const body = new FormData()
    body.set('file', new Blob([readBytes(file)], { type: 'text/x-python' }), basename(file))
    const { 'dry-run': isDry, 'if-changed': ifChanged } = parsed.options
    const query = {
      dry_run: isDry ? 'true' : undefined,
      if_changed: ifChanged ? 'true' : undefined,
    }
    const call = createApiCall(parsed, context)
    const repeatability = isDry ? 'repeatable' : 'once'
    const request = { method: 'POST', path: path`/workflows`, query, body, repeatability } as const
    const rows = await call(request)
    if (isDry) printJson(context, rows)
    else printRows(rows, ['namespace', 'name', 'version'], parsed, context)
    printWarnings(context, rows)
    return 0
  },
}

export const workflowDiff: Command = {
  words: 'workflow diff',
  args: ['workflow', 'a', 'b'],
  about: 'Show the differences between two versions of a workflow',
  options: { ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const [workflow = '', a = '', b = ''] = parsed.args
    const ref = parseWorkflowRef(workflow)
    if (![a, b].every((version) => VERSION.test(version)))
      throw new UsageError('a version must be a whole number from 1')
    const versions = path`/workflows/${toNamespace(ref.namespace)}/${toWorkflowName(ref.name)}/versions`
    const call = createApiCall(parsed, context)
    printJson(context, await call({ method: 'GET', path: `${versions}/${a}/diff/${b}` }))
    return 0
  },
}

export const workflowList: Command = {
  words: 'workflow list',
  args: [],
  about: 'List the workflows',
  options: {
    namespace: { type: 'string', value: 'NAME', about: 'only of this namespace' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const query = { namespace: parsed.options.namespace?.toString() }
    const rows = await createApiCall(
      parsed,
      context,
    )({ method: 'GET', path: path`/workflows`, query })
    printRows(rows, ['namespace', 'name', 'version'], parsed, context)
    return 0
  },
}

export const workflowRun: Command = {
  words: 'workflow run',
  args: ['workflow', 'input?'],
  about: 'Run a workflow; its input is JSON, @file, or - for standard input',
  options: {
    async: { type: 'boolean', about: 'do not wait for the result' },
    version: { type: 'string', value: 'N', about: 'run this version' },
    ...priorityOption,
    tags: { type: 'string', value: 'KEY=VALUE,…', about: 'labels by which it is found; up to 16' },
    ...keyOption,
    ...detailedOption,
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const { async: isAsync, version, tags, detailed } = parsed.options
    const ref = parseWorkflowRef(parsed.args[0] ?? '')
    const run = path`/workflows/${toNamespace(ref.namespace)}/${toWorkflowName(ref.name)}/run`
    if (version !== undefined && !VERSION.test(String(version)))
      throw new UsageError('--version must be a whole number from 1')
    const priority = readPriority(parsed)
    const call = createApiCall(parsed, context)
    const shown = { detailed: detailed ? 'true' : undefined }
    const key = parsed.options['idempotency-key']?.toString() ?? randomUUID()
    const start = { version: version?.toString(), priority, tags: tags?.toString() }
    const request = {
      method: 'POST' as const,
      path: `${run}/${isAsync ? 'async' : 'sync'}`,
      query: { ...start, ...shown },
      body: await readInput(parsed.args[1]),
      idempotencyKey: key,
    }
    const endExplaining = context.explainInterrupt?.(
      `if the run was started, it continues. To wait for it again, add: --idempotency-key ${key}`,
    )
    const answer = isAsync ? await call(request) : await waitUntilSettled(call, request, shown)
    endExplaining?.()
    printJson(context, answer)
    return isAsync ? 0 : exitStatusOf(answer)
  },
}

export const workflowStatus: Command = {
  words: 'workflow status',
  args: ['workflow', 'execution_id'],
  about: 'Show an execution of a workflow',
  options: { ...detailedOption, ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const [workflow = '', execution = ''] = parsed.args
    const ref = parseWorkflowRef(workflow)
    const answer = await createApiCall(
      parsed,
      context,
    )({
      method: 'GET',
      path: path`/workflows/${toNamespace(ref.namespace)}/${toWorkflowName(ref.name)}/status/${toExecutionId(execution)}`,
      query: { detailed: parsed.options.detailed ? 'true' : undefined },
    })
    printJson(context, answer)
    return 0
  },
}
