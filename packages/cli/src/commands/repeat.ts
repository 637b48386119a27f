import { randomUUID } from 'node:crypto'
import { path, toExecutionId } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { createApiCall, serverOptions } from '../api-call.ts'
import { type Command, type ParsedArguments, UsageError } from '../command.ts'
import { readInput } from '../input.ts'
import { jsonOption, printJson } from '../output.ts'
import { priorityOption, readPriority } from '../priority-option.ts'

const againOptions = {
  input: {
    type: 'string',
    value: 'JSON',
    about: 'another input: JSON, @file or - (standard input)',
  },
  version: { type: 'string', value: 'N', about: 'another version of the workflow' },
  ...priorityOption,
} as const

export const executionRerun: Command = {
  words: 'execution rerun',
  args: ['execution_id'],
  about: 'Start an execution like another one, without waiting',
  options: { ...againOptions, ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const id = toExecutionId(parsed.args[0] ?? '')
    const body = toJsonObject(await againOf(parsed))
    const idempotencyKey = randomUUID()
    const request = {
      method: 'POST',
      path: path`/executions/${id}/rerun`,
      query: { priority: readPriority(parsed) },
      body,
      idempotencyKey,
    } as const
    printJson(context, await createApiCall(parsed, context)(request))
    return 0
  },
}

export const executionFork: Command = {
  words: 'execution fork',
  args: ['execution_id', 'after_seq'],
  about: 'Start an execution that begins with the log of another one up to an entry',
  options: {
    'dry-run': { type: 'boolean', about: 'print which calls would run again, and start nothing' },
    ...againOptions,
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const id = toExecutionId(parsed.args[0] ?? '')
    const after_seq = toNumber('after_seq', parsed.args[1] ?? '')
    const dry_run = String(parsed.options['dry-run'] === true)
    const body = toJsonObject({ after_seq, dry_run, ...(await againOf(parsed)) })
    const idempotencyKey = randomUUID()
    const request = {
      method: 'POST',
      path: path`/executions/${id}/fork`,
      query: { priority: readPriority(parsed) },
      body,
      idempotencyKey,
    } as const
    printJson(context, await createApiCall(parsed, context)(request))
    return 0
  },
}

export const executionDiff: Command = {
  words: 'execution diff',
  args: ['execution_id', 'other_execution_id'],
  about: 'Compare the inputs, versions, calls and durations of two executions',
  options: { ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const [a, b] = [toExecutionId(parsed.args[0] ?? ''), toExecutionId(parsed.args[1] ?? '')]
    const request = { method: 'GET', path: path`/executions/${a}/diff/${b}` } as const
    printJson(context, await createApiCall(parsed, context)(request))
    return 0
  },
}

async function againOf({ options }: ParsedArguments): Promise<Record<string, string>> {
  const { input, version } = options
  return {
    ...(typeof input === 'string' && { input: await readInput(input) }),
    ...(typeof version === 'string' && { version: toNumber('version', version) }),
  }
}

function toNumber(name: string, given: string): string {
  if (/^\d{1,15}$/.test(given)) return String(Number(given))
  throw new UsageError(`${name} must be a number, not '${given}'`)
}
