import { path } from '@windlass/api-client/path'
import { getMembers, toJsonObject } from '@windlass/api-client/payload'
import { AuditChainVerifier, type ChainedEntry, type Head } from '@windlass/domain/audit'
import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'
import { type ApiCall, createApiCall, serverOptions } from '../api-call.ts'
import { type Command, UsageError } from '../command.ts'
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

const PAGE = 1_000
/** The log was changed; status 1 means that it could not be read. */
const BROKEN = 3

export const auditVerify: Command = {
  words: 'audit verify',
  args: [],
  about: 'Find changed and missing entries of the audit log; exit status 3 if there are any',
  options: {
    head: {
      type: 'string',
      value: 'SEQ:HASH',
      about: 'the head that an earlier run printed; it must still be part of the log',
    },
    ...serverOptions,
  },
  async run(parsed, context) {
    const check = new AuditChainVerifier(parseHead(parsed.options.head?.toString()))
    await verifyPages(createApiCall(parsed, context), check)
    const { seq, hash } = check.head
    context.out(`${seq} entries, head ${seq}:${hash.toString('hex')}\n`)
    for (const problem of check.problems) context.err(`${problem}\n`)
    if (check.problems.length > 0) return BROKEN
    context.out('the log is whole\n')
    return 0
  },
}

function parseHead(text: string | undefined): Head | undefined {
  if (text === undefined) return undefined
  const [, seq, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined)
    throw new UsageError(`'${text}' is not a head; use SEQ:HASH as printed by audit verify`)
  return { seq: Number(seq), hash: Buffer.from(hash, 'hex') }
}

/** Verifies page by page up to the head that the log had at the first page. */
async function verifyPages(call: ApiCall, check: AuditChainVerifier): Promise<void> {
  let first: Head | undefined
  for (;;) {
    const { head, page } = await readPage(call, check.head.seq)
    first ??= head
    for (const entry of page) if (entry.seq <= first.seq) check.verifyNext(entry)
    const last = page.at(-1)?.seq ?? 0
    if (page.length === PAGE && last < first.seq) continue
    check.verifyEnd(first)
    return checkBeyondHead(call, check, page)
  }
}

/** Entries beyond the head were appended meanwhile and moved the head; one that the head never reaches was inserted. */
async function checkBeyondHead(
  call: ApiCall,
  check: AuditChainVerifier,
  page: ChainedEntry[],
): Promise<void> {
  const end = check.head.seq
  const isAllTaken = page.at(-1)?.seq === end
  const rest = isAllTaken ? (await readPage(call, end)).page : page
  const last = rest.at(-1)?.seq ?? 0
  if (last <= end) return
  const { head } = await readPage(call, last)
  if (head.seq < last) check.problems.push(`entry ${last} is beyond the head of the log`)
}

async function readPage(
  call: ApiCall,
  after: number,
): Promise<{ head: Head; page: ChainedEntry[] }> {
  const query = { after: String(after), limit: String(PAGE) }
  const answer = await call({ method: 'GET', path: path`/admin/audit`, query })
  const { entries = '[]', head = '{}' } = getMembers(answer, ['entries', 'head'])
  return { head: toHead(head), page: (elementsOf(entries) ?? []).map(toChainedEntry) }
}

const toBytes = (json: string | undefined) => Buffer.from(stringOf(json) ?? '', 'hex')

function toHead(json: string): Head {
  const members = membersOf(json)
  return { seq: Number(members?.get('seq') ?? 0), hash: toBytes(members?.get('hash')) }
}

/** Keeps the detail as text, because its text was hashed. */
function toChainedEntry(json: string): ChainedEntry {
  const members = membersOf(json) ?? new Map<string, string>()
  const actor = membersOf(members.get('actor') ?? '{}')
  const said = (name: string) => stringOf(members.get(name)) ?? ''
  return {
    seq: Number(members.get('seq')),
    at: said('at'),
    subject: stringOf(actor?.get('subject')) ?? '',
    issuer: stringOf(actor?.get('issuer')) ?? '',
    key_prefix: stringOf(actor?.get('key_prefix')) ?? '',
    request_id: said('request_id'),
    action: said('action'),
    object: said('object'),
    outcome: said('outcome'),
    detail_json: members.get('detail') ?? '',
    previous_hash: toBytes(members.get('previous_hash')),
    hash: toBytes(members.get('hash')),
  }
}
