import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'
import type { AuditChainVerifier, ChainedEntry, Head } from './audit.ts'
import {
  type Checkpoint,
  type CheckpointList,
  type CheckpointPage,
  lastPruned,
  readCheckpointPages,
  type VerifiedCheckpoints,
  verifyCheckpoints,
} from './audit-checkpoint.ts'
import { toAuditEntry } from './audit-entry.ts'
import { nodeCrypto } from './audit-signature.ts'

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
): Promise<{ head: Head; lines: AuditLine[]; checkpoints: number }> {
  const query = { after: String(after), limit: String(AUDIT_PAGE) }
  const answer = await read({ method: 'GET', path: '/admin/audit', query })
  const members = membersOf(answer)
  const [entries, head] = [elementsOf(members?.get('entries') ?? ''), members?.get('head')]
  if (!entries || head === undefined)
    throw new Error("the server's answer is not a page of the audit log")
  const lines = entries.map((json) => ({ json, entry: toChainedEntry(json) }))
  // Absent: the server is of a release that signs none.
  const checkpoints = Number(members?.get('checkpoints') ?? 0)
  return { head: toHead(head), lines, checkpoints }
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

const CHECKPOINTS = '/admin/audit/checkpoints'
const NO_CHECKPOINTS: CheckpointList = { tokens: [], keys: [] }

/** Reads the signed checkpoints and their keys. */
const readCheckpoints = (read: ReadRoute): Promise<CheckpointList> =>
  readCheckpointPages(AUDIT_PAGE, async (offset) => {
    const query = { limit: String(AUDIT_PAGE), offset: String(offset) }
    return JSON.parse(await read({ method: 'GET', path: CHECKPOINTS, query })) as CheckpointPage
  })

/** Parses the answer of the route, also one that was saved. Throws for any other text. */
export function toCheckpointList(json: string): CheckpointList {
  const { checkpoints, keys } = JSON.parse(json) as CheckpointPage
  return { tokens: checkpoints.map(({ token }) => token), keys }
}

interface VerifyOptions {
  /** Creates the verifier; it may have verified an exported file. */
  start(checkpoints: readonly Checkpoint[]): Promise<AuditChainVerifier>
  /** Ids of the keys that alone are trusted. */
  noted?: readonly string[] | undefined
  /** Checkpoints that were saved elsewhere. */
  saved?: CheckpointList | undefined
}

export interface VerifiedLog {
  check: AuditChainVerifier
  signed: VerifiedCheckpoints
  problems: string[]
}

/** Verifies the whole log and its checkpoints, again if entries were pruned while it was read. */
export async function verifyLog(
  read: ReadRoute,
  { start, noted, saved }: VerifyOptions,
): Promise<VerifiedLog> {
  for (;;) {
    const list = await readCheckpointsIfAny(read)
    const signed = await verifyCheckpoints(merge(list, saved), nodeCrypto, noted)
    const check = await start(signed.checkpoints)
    await verifyPages(read, check)
    const problems = [...signed.problems, ...check.problems]
    if (problems.length === 0 || lastPruned(await readCheckpointsIfAny(read)) === lastPruned(list))
      return { check, signed, problems }
  }
}

async function readCheckpointsIfAny(read: ReadRoute): Promise<CheckpointList> {
  const { checkpoints } = await readAuditPage(read, 0)
  return checkpoints > 0 ? readCheckpoints(read) : NO_CHECKPOINTS
}

/** The saved keys count as confirmed if they were when they were saved. */
const merge = (list: CheckpointList, saved: CheckpointList = NO_CHECKPOINTS) => ({
  tokens: [...new Set([...list.tokens, ...saved.tokens])],
  keys: [...list.keys, ...saved.keys],
})

/** Verifies page by page up to the head that the log had at the first page. */
async function verifyPages(read: ReadRoute, check: AuditChainVerifier): Promise<void> {
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
