import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution, Limits } from '../domain/execution.ts'
import * as unlocked from '../store/optimistic-write.ts'
import { applyCommand, type CommandResult, type WorkingCopy } from './apply.ts'
import type { LogCache } from './cache/logs.ts'
import type { RowCache } from './cache/rows.ts'
import { type Command, type ExecutionCommand, eventIdsOf } from './command.ts'
import { type DecisionInput, keyOf } from './decision-input.ts'
import type { CommittedChange } from './pessimistic.ts'

export interface Caches {
  rows: RowCache
  logs: LogCache
}

/** The commands that need nothing but their own row and its log. */
const SINGLE_ROW_COMMANDS = new Set<Command['kind']>([
  'lease',
  'claim',
  'checkpoint',
  'release',
  'resume',
  'cancel',
  'verify',
])

/** Free slots are checked when the row is written: no other command may rest on a lease before that. */
function isSingleRowGroup(group: readonly ExecutionCommand[]): boolean {
  const leases = group.filter(({ command }) => command.kind === 'lease')
  return (
    (leases.length === 0 || leases.length === group.length) &&
    group.every(({ command }) => SINGLE_ROW_COMMANDS.has(command.kind))
  )
}

interface OptimisticDeps {
  db: Db
  caches: Caches
  limits: Limits
}

/** What became of commands, and what they changed. */
export interface BatchResult {
  results: Map<ExecutionCommand, CommandResult>
  committed: CommittedChange[]
  /** To be called when the effects have been noted. */
  onRecorded?(): void
}

/**
 * Commands without locks: decides from rows as this process remembers or reads them, and writes rows,
 * logs and totals in one statement that leaves out every row which something came between. A command
 * that has no result here was not done: the way with locks is for it. The commands of one execution
 * are done together or not at all.
 */
export async function applyOptimistically(
  reading: OptimisticDeps,
  changes: readonly ExecutionCommand[],
): Promise<BatchResult> {
  const { db, caches } = reading
  const plain = [...byExecution(changes).values()].filter(isSingleRowGroup)
  const remembered = plain.flatMap((group) => decideFromCache(reading, group) ?? [])
  const known = new Set(remembered.map(({ group }) => group))
  const rest = plain.filter((group) => !known.has(group))
  const decided = [...remembered, ...(rest.length > 0 ? await decideFromRows(reading, rest) : [])]
  const writes = decided.flatMap(({ write }) => write ?? [])
  const written =
    writes.length > 0 ? await unlocked.writeIfUnchanged(db, writes) : new Set<string>()
  const done = decided.filter(({ write }) => !write || written.has(write.before.execution_id))
  for (const { before } of writes)
    if (!written.has(before.execution_id)) caches.rows.delete(before.execution_id)
  return {
    results: new Map(done.flatMap(({ results }) => [...results])),
    committed: done.flatMap(({ write }) =>
      write ? [{ before: write.before, after: write.next, entries: [...write.entries] }] : [],
    ),
  }
}

interface GroupDecision {
  group: readonly ExecutionCommand[]
  results: Map<ExecutionCommand, CommandResult>
  /** Absent: nothing is to be written. */
  write: unlocked.ConditionalWrite | undefined
}

/** What is refused or changes nothing is not decided from memory: another process may know better. */
function decideFromCache(
  { caches, limits }: OptimisticDeps,
  group: readonly ExecutionCommand[],
): GroupDecision | undefined {
  const row = caches.rows.get(group[0]?.execution_id ?? '')
  const log = row && caches.logs.get(row)
  if (!row || (!log && eventsOf(group).length > 0)) return undefined
  const decided = decideGroup({ row, known: log ?? [] }, group, limits)
  const all = [...decided.results.values()]
  return all.every((result) => 'changed' in result && result.changed) ? decided : undefined
}

async function decideFromRows(
  { db, limits }: OptimisticDeps,
  groups: readonly (readonly ExecutionCommand[])[],
) {
  const ids = groups.map(([first]) => first?.execution_id ?? '')
  const rows = await unlocked.readWithKnownEvents(db, ids, groups.flatMap(eventsOf))
  const byId = new Map(rows.map((row) => [row.execution_id, row]))
  return groups.flatMap((group) => {
    const found = byId.get(group[0]?.execution_id ?? '')
    if (!found) return [decideGroup({ row: undefined, known: [] }, group, limits)]
    const { known_types, known_ids, ...row } = found
    if (row.gated) return []
    const known = known_types.map((type, i) => ({ type, event_id: known_ids[i] }))
    return [decideGroup({ row, known }, group, limits)]
  })
}

interface GroupInput {
  row: Execution | undefined
  known: readonly { type: string; event_id?: string | undefined }[]
}

/** What commands make of one row, and what is to be written of it. */
export function decideGroup(
  { row, known }: GroupInput,
  group: readonly ExecutionCommand[],
  limits: Limits,
): GroupDecision {
  const execution_id = group[0]?.execution_id ?? ''
  const scene: DecisionInput = {
    rows: new Map(row ? [[execution_id, row]] : []),
    existing: new Map(),
    inserted: new Set(),
    known: new Set(known.map((event) => keyOf(execution_id, event))),
    // Deadlines are judged under locks only: `expire` is not among the commands done here.
    expired: new Set(),
    approvals: new Map(),
    // The statement that writes the row checks for a free slot.
    slots: { hasFree: () => true, move: () => {} },
  }
  const draughts = new Map<string, WorkingCopy>()
  const results = new Map<ExecutionCommand, CommandResult>()
  let lease: unlocked.ConditionalWrite['lease']
  for (const change of group) {
    const result = applyCommand(scene, draughts, change, limits)
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

const eventsOf = (group: readonly ExecutionCommand[]) =>
  group.flatMap(({ execution_id, command }) =>
    eventIdsOf(command).map((event_id) => ({ execution_id, event_id })),
  )

function byExecution(changes: readonly ExecutionCommand[]): Map<string, ExecutionCommand[]> {
  const groups = new Map<string, ExecutionCommand[]>()
  for (const change of changes) {
    const group = groups.get(change.execution_id)
    if (group) group.push(change)
    else groups.set(change.execution_id, [change])
  }
  return groups
}
