import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { path } from '@windlass/api-client/path'
import { getMembers, toJsonObject } from '@windlass/api-client/payload'
import { AuditChainVerifier } from '@windlass/domain/audit'
import {
  type Checkpoint,
  type CheckpointList,
  verifyCheckpoints,
} from '@windlass/domain/audit-checkpoint'
import {
  formatHead,
  toChainedEntry,
  toCheckpointList,
  type VerifiedLog,
  verifyLog,
} from '@windlass/domain/audit-pages'
import { nodeCrypto } from '@windlass/domain/audit-signature'
import { elementsOf, membersOf } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import { parseCheckpoint } from '../audit-entries.ts'
import { type Command, type CommandContext, Failure, UsageError } from '../command.ts'
import { jsonOption, printJson, printRows } from '../output.ts'

const FILTERS = ['actor', 'action', 'object', 'outcome', 'since', 'until', 'limit'] as const

export const auditList: Command = {
  words: 'audit list',
  args: [],
  about: 'List the entries of the audit log, newest first',
  options: {
    actor: { type: 'string', value: 'SUBJECT', about: 'only by this subject' },
    action: {
      type: 'string',
      value: 'ACTION',
      about: 'only this action, such as role.update, or all of role',
    },
    object: { type: 'string', value: 'OBJECT', about: 'only of this object, such as role:ops' },
    outcome: { type: 'string', value: 'OUTCOME', about: 'begun, done, denied, failed or unknown' },
    since: {
      type: 'string',
      value: 'TIME',
      about: 'at or after this time, such as 2026-01-31T00:00:00Z',
    },
    until: { type: 'string', value: 'TIME', about: 'before this time' },
    limit: { type: 'string', value: 'N', about: 'at most this many (default 50)' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const query = Object.fromEntries(
      FILTERS.map((name) => [name, parsed.options[name]?.toString()] as const),
    )
    const answer = await createApiCall(
      parsed,
      context,
    )({ method: 'GET', path: path`/admin/audit`, query })
    if (parsed.options.json) printJson(context, answer)
    else {
      const rows = (elementsOf(getMembers(answer, ['entries']).entries ?? '') ?? []).map(
        withSubject,
      )
      const names = ['seq', 'at', 'subject', 'action', 'object', 'outcome']
      printRows(`[${rows}]`, names, parsed, context)
    }
    return 0
  },
}

function withSubject(entry: string): string {
  const members = membersOf(entry)
  const subject = membersOf(members?.get('actor') ?? '{}')?.get('subject')
  return toJsonObject({ ...Object.fromEntries(members ?? []), subject })
}

/** The log was changed; status 1 means that it could not be read. */
const BROKEN = 3

export const auditVerify: Command = {
  words: 'audit verify',
  args: ['file?'],
  about:
    'Find changed and missing entries of the audit log, after those of an exported FILE; exit status 3 if there are any',
  options: {
    head: {
      type: 'string',
      value: 'SEQ:HASH',
      about: 'the head that an earlier run printed; it must still be part of the log',
    },
    key: {
      type: 'string',
      value: 'ID',
      about: 'id of the key that signs checkpoints, noted elsewhere; several with commas',
    },
    checkpoints: {
      type: 'string',
      value: 'FILE',
      about: 'saved output of audit checkpoints --json; the log must still fit them',
    },
    offline: {
      type: 'boolean',
      about: 'verify FILE with the saved checkpoints alone, without a server',
    },
    ...serverOptions,
  },
  async run(parsed, context) {
    const { options } = parsed
    const remembered = options.head && parseCheckpoint(options.head.toString())
    const noted = options.key?.toString().split(',')
    const saved = options.checkpoints && (await readSaved(options.checkpoints.toString()))
    const [file] = parsed.args
    const start = async (checkpoints: readonly Checkpoint[]) => {
      const check = new AuditChainVerifier(remembered || undefined, undefined, checkpoints)
      if (file !== undefined) await verifyFile(file, check)
      return check
    }
    const result = options.offline
      ? await verifyOffline(start, requireSaved(file, saved || undefined), noted)
      : await verifyLog(createApiCall(parsed, context), { start, noted, saved: saved || undefined })
    return report(result, context)
  },
}

function report({ check, signed, problems }: VerifiedLog, { out, err }: CommandContext): number {
  const { baseSeq, head } = check
  const range = baseSeq === 0 ? `${head.seq} entries` : `entries ${baseSeq + 1} to ${head.seq}`
  out(`${range}, head ${formatHead(head)}\n`)
  const last = signed.checkpoints.map(({ seq }) => seq).sort((a, b) => b - a)[0]
  if (last !== undefined)
    out(
      `${signed.checkpoints.length} checkpoints, the last of entry ${last}, signed with key ${signed.kids.join(', ')}\n`,
    )
  for (const note of check.notes) out(`${note}\n`)
  for (const problem of problems) err(`${problem}\n`)
  if (problems.length > 0) return BROKEN
  out('the log is intact\n')
  return 0
}

async function readSaved(path: string): Promise<CheckpointList> {
  const text = await readFile(path, 'utf8')
  try {
    return toCheckpointList(text)
  } catch {
    throw new Failure(`${path} has no checkpoints; save the output of audit checkpoints --json`)
  }
}

function requireSaved(file: string | undefined, saved: CheckpointList | undefined): CheckpointList {
  if (file !== undefined && saved) return saved
  throw new UsageError('--offline needs FILE and --checkpoints')
}

async function verifyOffline(
  start: (checkpoints: readonly Checkpoint[]) => Promise<AuditChainVerifier>,
  saved: CheckpointList,
  noted: readonly string[] | undefined,
): Promise<VerifiedLog> {
  const signed = await verifyCheckpoints(saved, nodeCrypto, noted)
  const check = await start(signed.checkpoints)
  check.verifyEnd(check.head, { isPart: true })
  return { check, signed, problems: [...signed.problems, ...check.problems] }
}

async function verifyFile(path: string, check: AuditChainVerifier): Promise<void> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })
  for await (const line of lines) if (line !== '') check.verifyNext(toChainedEntry(line))
}
