import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution, Limits } from '../domain/execution.ts'
import { writerConflicts } from '../metrics.ts'
import * as store from '../store/optimistic-write.ts'
import { applyCommand, type CommandResult, type WorkingCopy } from './apply.ts'
import type { BatchResult, CommittedChange } from './batch.ts'
import type { LogCache } from './cache/logs.ts'
import type { RowCache } from './cache/rows.ts'
import {
  awaitedIdsOf,
  type Command,
  type CommandBatch,
  type ExecutionCommand,
  eventIdsOf,
} from './command.ts'
import { type DecisionInput, keyOf } from './decision-input.ts'

export interface Caches {
  rows: RowCache
  logs: LogCache
}

/** Commands that read nothing but their own row and its log. */
const SINGLE_ROW_COMMANDS = new Set<Command['kind']>([
  'lease',
  'claim',
  'checkpoint',
  'release',
  'resume',
  'cancel',
  'verify',
  'extend_lease',
  'confirm_claim',
  'wake',
])

/**
 * True for leases only, or no lease at all: the write checks for a free slot, so no command may depend on a
 * lease before it.
 */
function isSingleRowGroup(group: CommandBatch): boolean {
  const leases = group.filter(({ command }) => command.kind === 'lease')
  return (
    (leases.length === 0 || leases.length === group.length) &&
    group.every(
      ({ command }) => SINGLE_ROW_COMMANDS.has(command.kind) && awaitedIdsOf(command).length === 0,
    )
  )
}

interface OptimisticDeps {
  db: Db
  caches: Caches
  limits: Limits
}

/**
 * Optimistic path: decides from cached rows or rows read without a lock, and writes rows, logs and
 * totals in one statement that skips every row whose revision has changed (a conflict). Commands of
 * one execution are applied together or not at all; a command that was not applied has no result.
 */
export async function applyOptimistically(
  deps: OptimisticDeps,
  commands: CommandBatch,
): Promise<BatchResult> {
  const { db, caches } = deps
  const groups = groupByExecution(commands).filter(isSingleRowGroup)
  const fromCache = groups.flatMap((group) => decideFromCache(deps, group) ?? [])
  const decided = new Set(fromCache.map(({ group }) => group))
  const uncached = groups.filter((group) => !decided.has(group))
  const decisions = [
    ...fromCache,
    ...(uncached.length > 0 ? await decideFromRows(deps, uncached) : []),
  ]
  const writes = decisions.flatMap(({ write }) => write ?? [])
  const written = writes.length > 0 ? await store.writeIfUnchanged(db, writes) : new Set<string>()
  const applied = decisions.filter(({ write }) => !write || written.has(write.before.execution_id))
  for (const { before } of writes)
    if (!written.has(before.execution_id)) caches.rows.delete(before.execution_id)
  if (written.size < writes.length) writerConflicts.add(writes.length - written.size)
  return {
    results: new Map(applied.flatMap(({ results }) => [...results])),
    committed: applied.flatMap(({ group, write }) => (write ? [changeOf(group, write)] : [])),
  }
}

function changeOf(
  group: CommandBatch,
  { before, next, entries }: store.ConditionalWrite,
): CommittedChange {
  const [first, ...others] = group
  const isOfOne = others.every(({ sender }) => sender === first?.sender)
  const sender = isOfOne ? first?.sender : undefined
  return { before, after: next, entries: [...entries], sender }
}

interface GroupDecision {
  group: CommandBatch
  results: Map<ExecutionCommand, CommandResult>
  /** Absent: nothing has to be written. */
  write: store.ConditionalWrite | undefined
}

/** Refusals and no-ops are never decided from the cache: the cached row may be outdated. */
function decideFromCache(
  { caches, limits }: OptimisticDeps,
  group: CommandBatch,
): GroupDecision | undefined {
  const row = caches.rows.get(group[0]?.execution_id ?? '')
  const log = row && caches.logs.get(row)
  if (!row || (!log && eventsOf(group).length > 0)) return undefined
  const decision = decideGroup({ row, known: log ?? [] }, group, limits)
  const results = [...decision.results.values()]
  return results.every((result) => 'changed' in result && result.changed) ? decision : undefined
}

async function decideFromRows({ db, limits }: OptimisticDeps, groups: readonly CommandBatch[]) {
  const ids = groups.map(([first]) => first?.execution_id ?? '')
  const rows = await store.readWithEvents(db, ids, groups.flatMap(eventsOf))
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
  /** Those events of the commands that the log already contains. */
  known: readonly { type: string; event_id?: string | undefined }[]
}

/** Applies the commands for one execution to its row, without I/O. */
export function decideGroup(
  { row, known }: GroupInput,
  group: CommandBatch,
  limits: Limits,
): GroupDecision {
  const execution_id = group[0]?.execution_id ?? ''
  const input: DecisionInput = {
    rows: new Map(row ? [[execution_id, row]] : []),
    existing: new Map(),
    inserted: new Set(),
    known: new Set(known.map((event) => keyOf(execution_id, event))),
    // Deadlines are decided only under a lock: `expire` is not a single-row command.
    expired: new Set(),
    approvals: new Map(),
    // The statement that writes the row checks for a free slot.
    slots: { hasFree: () => true, move: () => {} },
  }
  const copies = new Map<string, WorkingCopy>()
  const results = new Map<ExecutionCommand, CommandResult>()
  let lease: store.ConditionalWrite['lease']
  for (const one of group) {
    const result = applyCommand(input, copies, one, limits)
    results.set(one, result)
    const { command } = one
    if (command.kind === 'lease' && 'changed' in result && result.changed)
      lease = { worker_name: command.offer.worker_name, capacity: command.capacity }
  }
  const copy = copies.get(execution_id)
  if (!copy?.before || copy.before === copy.after) return { group, results, write: undefined }
  const { before, after: next, entries, deadlineMs, enteredQueue } = copy
  return { group, results, write: { before, next, deadlineMs, enteredQueue, entries, lease } }
}

const eventsOf = (group: CommandBatch) =>
  group.flatMap(({ execution_id, command }) =>
    eventIdsOf(command).map((event_id) => ({ execution_id, event_id })),
  )

function groupByExecution(commands: CommandBatch): ExecutionCommand[][] {
  const groups = new Map<string, ExecutionCommand[]>()
  for (const command of commands) {
    const group = groups.get(command.execution_id)
    if (group) group.push(command)
    else groups.set(command.execution_id, [command])
  }
  return [...groups.values()]
}
