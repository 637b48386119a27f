import type { Db } from '@windlass/runtime/postgres/db'
import { type Change, type Command, eventIdsOf } from './command.ts'
import type { Execution, Limits } from './domain/execution.ts'
import { apply, type Draught, type Result } from './draught.ts'
import type { Effect } from './flush.ts'
import type { RecentLogs } from './recent-logs.ts'
import type { RecentRows } from './recent-rows.ts'
import { keyOf, type Scene } from './scene.ts'
import * as unlocked from './store/unlocked.ts'

export interface Memory {
  rows: RecentRows
  logs: RecentLogs
}

/** The commands that need nothing but their own row and its log. */
const PLAIN = new Set<Command['kind']>([
  'lease',
  'claim',
  'checkpoint',
  'release',
  'resume',
  'cancel',
  'verify',
])

/** Free slots are checked when the row is written: no other command may rest on a lease before that. */
function isPlain(group: readonly Change[]): boolean {
  const leases = group.filter(({ command }) => command.kind === 'lease')
  return (
    (leases.length === 0 || leases.length === group.length) &&
    group.every(({ command }) => PLAIN.has(command.kind))
  )
}

interface Reading {
  db: Db
  memory: Memory
  limits: Limits
}

/** What became of commands, and what they changed. */
export interface Done {
  results: Map<Change, Result>
  effects: Effect[]
  /** To be called when the effects have been noted. */
  noted?(): void
}

/**
 * Commands without locks: decides from rows as this process remembers or reads them, and writes rows,
 * logs and totals in one statement that leaves out every row which something came between. A command
 * that has no result here was not done: the way with locks is for it. The commands of one execution
 * are done together or not at all.
 */
export async function changeUnlocked(reading: Reading, changes: readonly Change[]): Promise<Done> {
  const { db, memory } = reading
  const plain = [...byExecution(changes).values()].filter(isPlain)
  const remembered = plain.flatMap((group) => fromMemory(reading, group) ?? [])
  const known = new Set(remembered.map(({ group }) => group))
  const rest = plain.filter((group) => !known.has(group))
  const decided = [...remembered, ...(rest.length > 0 ? await fromRows(reading, rest) : [])]
  const writes = decided.flatMap(({ write }) => write ?? [])
  const written = writes.length > 0 ? await unlocked.write(db, writes) : new Set<string>()
  const done = decided.filter(({ write }) => !write || written.has(write.before.execution_id))
  for (const { before } of writes)
    if (!written.has(before.execution_id)) memory.rows.forget(before.execution_id)
  return {
    results: new Map(done.flatMap(({ results }) => [...results])),
    effects: done.flatMap(({ write }) =>
      write ? [{ before: write.before, after: write.next, entries: [...write.entries] }] : [],
    ),
  }
}

interface Decided {
  group: readonly Change[]
  results: Map<Change, Result>
  /** Absent: nothing is to be written. */
  write: unlocked.Write | undefined
}

/** What is refused or changes nothing is not decided from memory: another process may know better. */
function fromMemory({ memory, limits }: Reading, group: readonly Change[]): Decided | undefined {
  const row = memory.rows.of(group[0]?.execution_id ?? '')
  const log = row && memory.logs.of(row)
  if (!row || (!log && eventsOf(group).length > 0)) return undefined
  const decided = decide({ row, known: log ?? [] }, group, limits)
  const all = [...decided.results.values()]
  return all.every((result) => 'changed' in result && result.changed) ? decided : undefined
}

async function fromRows({ db, limits }: Reading, groups: readonly (readonly Change[])[]) {
  const ids = groups.map(([first]) => first?.execution_id ?? '')
  const rows = await unlocked.read(db, ids, groups.flatMap(eventsOf))
  const byId = new Map(rows.map((row) => [row.execution_id, row]))
  return groups.flatMap((group) => {
    const found = byId.get(group[0]?.execution_id ?? '')
    if (!found) return [decide({ row: undefined, known: [] }, group, limits)]
    const { known_types, known_ids, ...row } = found
    if (row.gated) return []
    const known = known_types.map((type, i) => ({ type, event_id: known_ids[i] }))
    return [decide({ row, known }, group, limits)]
  })
}

interface Found {
  row: Execution | undefined
  known: readonly { type: string; event_id?: string | undefined }[]
}

/** What commands make of one row, and what is to be written of it. */
export function decide({ row, known }: Found, group: readonly Change[], limits: Limits): Decided {
  const execution_id = group[0]?.execution_id ?? ''
  const scene: Scene = {
    rows: new Map(row ? [[execution_id, row]] : []),
    earlier: new Map(),
    created: new Set(),
    known: new Set(known.map((event) => keyOf(execution_id, event))),
    // Deadlines are judged under locks only: `expire` is not among the commands done here.
    expired: new Set(),
    approvals: new Map(),
    // The statement that writes the row checks for a free slot.
    slots: { hasFree: () => true, move: () => {} },
  }
  const draughts = new Map<string, Draught>()
  const results = new Map<Change, Result>()
  let lease: unlocked.Write['lease']
  for (const change of group) {
    const result = apply(scene, draughts, change, limits)
    results.set(change, result)
    const { command } = change
    if (command.kind === 'lease' && 'changed' in result && result.changed)
      lease = { worker_name: command.offer.worker_name, capacity: command.capacity }
  }
  const draught = draughts.get(execution_id)
  if (!draught?.before || draught.before === draught.after)
    return { group, results, write: undefined }
  const { before, after, entries, deadlineMs, enteredQueue } = draught
  return {
    group,
    results,
    write: { before, next: after, deadlineMs, enteredQueue, entries, lease },
  }
}

const eventsOf = (group: readonly Change[]) =>
  group.flatMap(({ execution_id, command }) =>
    eventIdsOf(command).map((event_id) => ({ execution_id, event_id })),
  )

function byExecution(changes: readonly Change[]): Map<string, Change[]> {
  const groups = new Map<string, Change[]>()
  for (const change of changes) {
    const group = groups.get(change.execution_id)
    if (group) group.push(change)
    else groups.set(change.execution_id, [change])
  }
  return groups
}
