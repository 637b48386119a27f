import { path, toExecutionId } from '@windlass/api-client/path'
import { getElements, getMembers } from '@windlass/api-client/payload'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { type ApiCall, createApiCall, serverOptions } from '../api-call.ts'
import { type Command, Failure, UsageError } from '../command.ts'
import { jsonOption, printStored } from '../output.ts'
import { PAYLOAD_MS, type Payload, payloadOf, payloadOptions } from '../payload-options.ts'

/** The entry of the log that has each payload of a call. */
const ENTRY_TYPES: Record<Payload, string> = {
  input: 'TASK_STARTED',
  output: 'TASK_COMPLETED',
  error: 'TASK_FAILED',
}
const PAGE = 1_000
const MAX_NAMED = 5

interface Entry {
  seq: number
  call: string
  task: string
}

export const executionStep: Command = {
  words: 'execution step',
  args: ['execution_id', 'task_call_id'],
  about:
    'Print exactly one payload of a call of a task, which is named by its source_id in execution log, or by its task if it was called once; of a large input the log has only size and hash',
  options: { ...payloadOptions, ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const [id = '', name = ''] = parsed.args
    const log = `${path`/executions/${toExecutionId(id)}`}/log`
    const payload = payloadOf(parsed)
    if (payload === undefined) throw new UsageError('name --input, --output or --error')
    const call = createApiCall(parsed, context)
    const entries = await readEntries(call, log, ENTRY_TYPES[payload])
    const { seq } = findEntry(entries, name, payload)
    const query = { after: String(seq - 1), limit: '1', payloads: 'full' }
    const page = await call({ method: 'GET', path: log, query, timeoutMs: PAYLOAD_MS })
    const [entry = '{}'] = getElements(getMembers(page, ['entries']).entries ?? '')
    printStored(context, unwrap(getMembers(entry, ['value']).value ?? ''))
    return 0
  },
}

/** The value of a result that a worker stored in the log; a reference to another storage stays as it is. */
function unwrap(stored: string): string {
  const members = membersOf(stored)
  const isInline = stringOf(members?.get('storage_type')) === 'inline'
  const value = isInline ? membersOf(members?.get('metadata') ?? '')?.get('value') : undefined
  return value ?? stored
}

/** Reads all entries of a type, without their values. */
async function readEntries(call: ApiCall, log: string, types: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let after = 0; ; after = entries.at(-1)?.seq ?? after) {
    const query = { types, payloads: 'omit', limit: String(PAGE), after: String(after) }
    const page = await call({ method: 'GET', path: log, query })
    const found = getMembers(page, ['entries', 'more_after'])
    const read = getElements(found.entries ?? '').map(toEntry)
    entries.push(...read)
    if (found.more_after !== 'true' || read.length === 0) return entries
  }
}

function toEntry(json: string): Entry {
  const members = membersOf(json)
  const text = (name: string) => stringOf(members?.get(name)) ?? ''
  return { seq: Number(members?.get('seq')), call: text('source_id'), task: text('name') }
}

/** The last entry of a call: the end of its last try. */
function findEntry(entries: Entry[], name: string, payload: Payload): Entry {
  const ofCall = entries.findLast(({ call }) => call === name)
  if (ofCall) return ofCall
  const ofTask = entries.filter(({ task }) => task === name)
  const calls = [...new Set(ofTask.map(({ call }) => call))]
  const [last] = ofTask.slice(-1)
  if (last && calls.length === 1) return last
  if (last)
    throw new Failure(
      `the task '${name}' has ${calls.length} calls with an ${payload}; name one of them: ${calls.slice(0, MAX_NAMED).join(', ')}${calls.length > MAX_NAMED ? ', …' : ''}`,
    )
  throw new Failure(
    `the execution has no call '${name}' with an ${payload}; execution log shows the calls as source_id`,
  )
}
