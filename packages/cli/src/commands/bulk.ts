import { randomUUID } from 'node:crypto'
import { PathSegment, path } from '@windlass/api-client/path'
import { getMembers, toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import { type Command, type ParsedArguments, UsageError } from '../command.ts'
import { filterOptions, filtersOf } from '../execution-filters.ts'
import { readInput } from '../input.ts'
import { jsonOption, printJson } from '../output.ts'
import { readCommand } from './read-command.ts'

/** Changing 10,000 executions takes some minutes. */
const ACT_MS = 1_800_000

export const executionBulk: Command = {
  words: 'execution bulk',
  args: ['action'],
  about:
    'Cancel, resume, rerun or fork all executions that match the filters: first without --expect, which only counts them',
  options: {
    ...filterOptions,
    expect: {
      type: 'string',
      value: 'N',
      about: 'do it, if the filters match at most 1 % more than this',
    },
    'dry-run': { type: 'boolean', about: 'count only, also with --expect' },
    input: { type: 'string', value: 'JSON', about: 'answer of a resume, or another input' },
    'to-version': { type: 'string', value: 'N', about: 'another version, of a rerun or fork' },
    'after-seq': { type: 'string', value: 'N', about: 'the last entry of each log, of a fork' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const isDryRun = parsed.options.expect === undefined || parsed.options['dry-run'] === true
    const body = await bodyOf(parsed, isDryRun)
    // A resume that was carried out must not be carried out again at the next pause.
    const isOnce = parsed.args[0] === 'resume' && !isDryRun
    const sending = isOnce ? { repeatability: 'once' as const } : { idempotencyKey: randomUUID() }
    const request = { method: 'POST', path: path`/executions/bulk`, body, ...sending } as const
    const answer = await createApiCall(parsed, context)({ ...request, timeoutMs: ACT_MS })
    if (parsed.options.json) printJson(context, answer)
    else context.out(`${isDryRun ? previewText(answer) : resultText(answer)}\n`)
    return !isDryRun && isPartial(answer) ? 1 : 0
  },
}

async function bodyOf({ args, options }: ParsedArguments, isDryRun: boolean): Promise<string> {
  const { expect, input, 'to-version': version, 'after-seq': after } = options
  const given = Object.entries(filtersOf(options)).filter(([, value]) => value !== undefined)
  return toJsonObject({
    filter: JSON.stringify(Object.fromEntries(given)),
    action: quote(args[0] ?? ''),
    dry_run: String(isDryRun),
    ...(expect !== undefined && { expect: countOf('expect', expect) }),
    ...(typeof input === 'string' && { input: await readInput(input) }),
    ...(version !== undefined && { version: countOf('to-version', version) }),
    ...(after !== undefined && { after_seq: countOf('after-seq', after) }),
  })
}

function countOf(option: string, given: string | boolean): string {
  if (/^\d{1,9}$/.test(String(given))) return String(Number(given))
  throw new UsageError(`--${option} must be a whole number, not '${given}'`)
}

function previewText(answer: string): string {
  const found = getMembers(answer, ['count', 'forbidden', 'left_out'])
  return `${found.count} executions match, ${found.forbidden} of which you may not change; ${found.left_out} more are left out, since the action does not apply to them; do it with --expect ${found.count}`
}

function resultText(answer: string): string {
  const { id, total, done, failed } = getMembers(answer, ['id', 'total', 'done', 'failed'])
  return `${done} of ${total} done, ${failed} refused; windlass execution bulk-progress ${JSON.parse(id ?? '""')} shows the refusals`
}

function isPartial(answer: string): boolean {
  const { failed, stopped } = getMembers(answer, ['failed', 'stopped'])
  return failed !== '0' || stopped === 'true'
}

const actId = (text: string) => PathSegment.parse('id of a bulk act', /^[0-9a-f]{32}$/, text)

export const executionBulkProgress = readCommand({
  words: 'execution bulk-progress',
  args: ['id'],
  about: 'Show the progress and the refusals of a bulk act that you began in the last day',
  pathOf: ([id = '']) => path`/executions/bulk/${actId(id)}`,
})
