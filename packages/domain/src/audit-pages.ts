import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'
import type { AuditChainVerifier, ChainedEntry, Head } from './audit.ts'
import { toAuditEntry } from './audit-entry.ts'

/** The largest page of the audit log. */
export const AUDIT_PAGE = 1_000

/** An entry, and the JSON text that the server sent for it. */
export interface AuditLine {
  entry: ChainedEntry
  json: string
}

/** Reads a route of the API and returns the JSON text of the answer. */
export type ReadRoute = (request: {
  method: 'GET'
  path: string
  query: Record<string, string>
}) => Promise<string>

/** Reads the entries after this number, oldest first, and the head of the log. */
export async function readAuditPage(
  read: ReadRoute,
  after: number,
): Promise<{ head: Head; lines: AuditLine[] }> {
  const query = { after: String(after), limit: String(AUDIT_PAGE) }
  const answer = await read({ method: 'GET', path: '/admin/audit', query })
  const members = membersOf(answer)
  const [entries, head] = [elementsOf(members?.get('entries') ?? ''), members?.get('head')]
  if (!entries || head === undefined)
    throw new Error("the server's answer is not a page of the audit log")
  const lines = entries.map((json) => ({ json, entry: toChainedEntry(json) }))
  return { head: toHead(head), lines }
}

/** Parses `SEQ:HASH`; undefined for any other text. */
export function parseHead(text: string): Head | undefined {
  const [, seq, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), hash: Buffer.from(hash, 'hex') }
}

export const formatHead = ({ seq, hash }: Head) => `${seq}:${hash.toString('hex')}`

function toHead(json: string): Head {
  const members = membersOf(json)
  const hash = Buffer.from(stringOf(members?.get('hash')) ?? '', 'hex')
  return { seq: Number(members?.get('seq') ?? 0), hash }
}

/** Parses an entry as the verifier takes it, with its hashes as bytes. */
export function toChainedEntry(json: string): ChainedEntry {
  const entry = toAuditEntry(json)
  return {
    ...entry,
    previous_hash: Buffer.from(entry.previous_hash, 'hex'),
    hash: Buffer.from(entry.hash, 'hex'),
  }
}

/** Verifies page by page up to the head that the log had at the first page. */
export async function verifyPages(read: ReadRoute, check: AuditChainVerifier): Promise<void> {
  let first: Head | undefined
  for (;;) {
    const { head, lines } = await readAuditPage(read, check.head.seq)
    first ??= head
    for (const { entry } of lines) if (entry.seq <= first.seq) check.verifyNext(entry)
    const last = lines.at(-1)?.entry.seq ?? 0
    if (lines.length === AUDIT_PAGE && last < first.seq) continue
    check.verifyEnd(first)
    return checkBeyondHead(read, check, lines)
  }
}

/**
 * Entries beyond the head were appended in the meantime, and the head has moved with them. An entry that
 * the head never reaches was inserted.
 */
async function checkBeyondHead(
  read: ReadRoute,
  check: AuditChainVerifier,
  lines: AuditLine[],
): Promise<void> {
  const end = check.head.seq
  const isAllTaken = lines.at(-1)?.entry.seq === end
  const rest = isAllTaken ? (await readAuditPage(read, end)).lines : lines
  const last = rest.at(-1)?.entry.seq ?? 0
  if (last <= end) return
  const { head } = await readAuditPage(read, last)
  if (head.seq < last) check.problems.push(`entry ${last} is beyond the head of the log`)
}
