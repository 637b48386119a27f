import { path, toScheduleRef } from '@windlass/api-client/path'
import { toJsonObject, toScheduleConfig } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import { type Command, type CommandOption, type ParsedArguments, UsageError } from '../command.ts'
import { readInput, readText } from '../input.ts'
import { jsonOption, printJson } from '../output.ts'
import { revisionOf, revisionOption } from './revision-option.ts'

/** Options with which a schedule is created and changed. */
export const scheduleOptions: Record<string, CommandOption> = {
  overlap: {
    type: 'string',
    value: 'POLICY',
    about: 'while an earlier execution runs: allow, skip, queue or cancel_previous',
  },
  'run-as': { type: 'string', value: 'ACCOUNT', about: 'the service account it runs as' },
  description: { type: 'string', value: 'TEXT', about: 'a description for people' },
}

const textOf = (value: string | boolean | undefined) =>
  value === undefined ? undefined : quote(String(value))

/** The members of a schedule that the options name, as JSON texts. */
export const scheduleMembers = ({ options }: ParsedArguments) => ({
  overlap: textOf(options.overlap),
  run_as_service_account: textOf(options['run-as']),
  description: textOf(options.description),
})

export const scheduleUpdate: Command = {
  words: 'schedule update',
  args: ['schedule'],
  about: 'Change what the options name of a schedule; the rest stays unchanged',
  options: {
    config: {
      type: 'string',
      value: 'JSON',
      about: 'another schedule_config, as a whole: JSON, @file or - (standard input)',
    },
    input: {
      type: 'string',
      value: 'JSON',
      about: 'another input of its runs: JSON, @file or - (standard input)',
    },
    ...scheduleOptions,
    ...revisionOption,
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const schedule = path`/schedules/${toScheduleRef(parsed.args[0] ?? '')}`
    const body = toJsonObject(await changeOf(parsed))
    if (body === '{}') throw new UsageError('name the change: --config, --input or another option')
    const ifRevision = revisionOf(parsed)
    const request = { method: 'PUT', path: schedule, body, ifRevision } as const
    printJson(context, await createApiCall(parsed, context)(request))
    return 0
  },
}

async function changeOf(parsed: ParsedArguments): Promise<Record<string, string | undefined>> {
  const { config, input } = parsed.options
  if (config === '-' && input === '-')
    throw new UsageError('only one of --config and --input can be read from standard input')
  const schedule_config =
    typeof config === 'string' ? toScheduleConfig(await readText(config)) : undefined
  const input_data = typeof input === 'string' ? await readInput(input) : undefined
  // The server ignores an input of null in a change.
  if (input_data === 'null')
    throw new UsageError('the input of a schedule cannot be changed to null; create it again')
  return { schedule_config, input_data, ...scheduleMembers(parsed) }
}
