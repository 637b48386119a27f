import { basename } from 'node:path'
import { executionId, namespace, path, workflowName } from '@windlass/mcp/domain/path'
import { client, serverOptions } from '../client.ts'
import { type Command, type Option, UsageError } from '../command.ts'
import { contentOf, inputOf, workflowRef } from '../input.ts'
import { jsonOption, print, printRows, statusOf } from '../output.ts'
import { untilSettled } from '../until-settled.ts'

const VERSION = /^[1-9]\d{0,8}$/

const detailedOption: Record<string, Option> = {
  detailed: { type: 'boolean', about: 'print the full context with all events' },
}

export const workflowUpload: Command = {
  words: 'workflow upload',
  args: ['file'],
  about: 'Register the workflows of a Python file',
  options: {
    'dry-run': { type: 'boolean', about: 'show what it declares and register nothing' },
    'if-changed': { type: 'boolean', about: 'keep versions that came from the same file' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(given, world) {
    const [file = ''] = given.args
    const body = new FormData()
    body.set('file', new Blob([contentOf(file)], { type: 'text/x-python' }), basename(file))
    const { 'dry-run': isDry, 'if-changed': ifChanged } = given.options
    const query = {
      dry_run: isDry ? 'true' : undefined,
      if_changed: ifChanged ? 'true' : undefined,
    }
    const call = client(given, world)
    const rows = await call({ method: 'POST', path: path`/workflows`, query, body })
    if (isDry) print(world, rows)
    else printRows(rows, ['namespace', 'name', 'version'], given, world)
    return 0
  },
}

export const workflowDiff: Command = {
  words: 'workflow diff',
  args: ['workflow', 'a', 'b'],
  about: 'Show what changed between two versions of a workflow',
  options: serverOptions,
  async run(given, world) {
    const [workflow = '', a = '', b = ''] = given.args
    const ref = workflowRef(workflow)
    if (![a, b].every((version) => VERSION.test(version)))
      throw new UsageError('versions are whole numbers from 1')
    const versions = path`/workflows/${namespace(ref.namespace)}/${workflowName(ref.name)}/versions`
    const call = client(given, world)
    print(world, await call({ method: 'GET', path: `${versions}/${a}/diff/${b}` }))
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
  async run(given, world) {
    const query = { namespace: given.options.namespace?.toString() }
    const rows = await client(given, world)({ method: 'GET', path: path`/workflows`, query })
    printRows(rows, ['namespace', 'name', 'version'], given, world)
    return 0
  },
}

export const workflowRun: Command = {
  words: 'workflow run',
  args: ['workflow', 'input?'],
  about: 'Run a workflow; its input is JSON, @file, or - for standard input',
  options: {
    async: { type: 'boolean', about: 'do not wait for the end' },
    version: { type: 'string', value: 'N', about: 'run this version' },
    ...detailedOption,
    ...serverOptions,
  },
  async run(given, world) {
    const { async: isAsync, version, detailed } = given.options
    const ref = workflowRef(given.args[0] ?? '')
    const run = path`/workflows/${namespace(ref.namespace)}/${workflowName(ref.name)}/run`
    if (version !== undefined && !VERSION.test(String(version)))
      throw new UsageError('--version must be a whole number from 1')
    const call = client(given, world)
    const shown = { detailed: detailed ? 'true' : undefined }
    const request = {
      method: 'POST' as const,
      path: `${run}/${isAsync ? 'async' : 'sync'}`,
      query: { version: version?.toString(), ...shown },
      body: await inputOf(given.args[1]),
    }
    const answer = isAsync ? await call(request) : await untilSettled(call, request, shown)
    print(world, answer)
    return isAsync ? 0 : statusOf(answer)
  },
}

export const workflowStatus: Command = {
  words: 'workflow status',
  args: ['workflow', 'execution_id'],
  about: 'Show an execution of a workflow',
  options: { ...detailedOption, ...serverOptions },
  async run(given, world) {
    const [workflow = '', execution = ''] = given.args
    const ref = workflowRef(workflow)
    const answer = await client(
      given,
      world,
    )({
      method: 'GET',
      path: path`/workflows/${namespace(ref.namespace)}/${workflowName(ref.name)}/status/${executionId(execution)}`,
      query: { detailed: given.options.detailed ? 'true' : undefined },
    })
    print(world, answer)
    return 0
  },
}
