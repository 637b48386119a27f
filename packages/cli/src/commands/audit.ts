import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { path } from '@windlass/api-client/path'
import { getMembers, toJsonObject } from '@windlass/api-client/payload'
import { AuditChainVerifier } from '@windlass/domain/audit'
import { formatHead, toChainedEntry, verifyPages } from '@windlass/domain/audit-pages'
import { elementsOf, membersOf } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import { parseCheckpoint } from '../audit-entries.ts'
import type { Command } from '../command.ts'
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
    ...serverOptions,
  },
  async run(parsed, context) {
    const head = parsed.options.head?.toString()
    const check = new AuditChainVerifier(head === undefined ? undefined : parseCheckpoint(head))
    const [file] = parsed.args
    if (file !== undefined) await verifyFile(file, check)
    await verifyPages(createApiCall(parsed, context), check)
    context.out(`${check.head.seq} entries, head ${formatHead(check.head)}\n`)
    for (const problem of check.problems) context.err(`${problem}\n`)
    if (check.problems.length > 0) return BROKEN
    context.out('the log is intact\n')
    return 0
  },
}

async function verifyFile(path: string, check: AuditChainVerifier): Promise<void> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })
  for await (const line of lines) if (line !== '') check.verifyNext(toChainedEntry(line))
}
