import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BatchCase, batchCase, idAt } from '../../test/batch-cases.ts'
import { answerOf, normalized } from '../../test/batch-copies.ts'
import { limits } from '../../test/execution-samples.ts'
import { type Deadline, hasDeadline } from '../../test/seed-rows.ts'
import type { Approval } from '../domain/approvals.ts'
import type { Execution } from '../domain/execution.ts'
import type { NewExecution } from '../store/executions.ts'
import type { StoredEntry } from '../store/log.ts'
import { applyCommand, type CommandResult, totalsDeltas, type WorkingCopy } from './apply.ts'
import type { CommandBatch } from './command.ts'
import { type DecisionInput, keyOf, newRow, slotsOf } from './decision-input.ts'

/** In-memory database, as far as batches read and write it. */
interface Store {
  rows: Map<string, Execution>
  deadlines: Map<string, Deadline | number>
  queued: Map<string, 'earlier' | 'now'>
  approvals: Map<string, Approval>
  log: StoredEntry[]
  totals: Record<string, number>
}

const storeOf = ({ rows, deadlines, approvals }: BatchCase): Store => ({
  rows: new Map(rows.map((row) => [row.execution_id, row])),
  deadlines: new Map(
    rows.flatMap((row, i) =>
      hasDeadline(row) ? [[row.execution_id, deadlines[i] ?? 'ahead'] as const] : [],
    ),
  ),
  queued: new Map(
    rows.flatMap((row) => (row.queued ? [[row.execution_id, 'earlier'] as const] : [])),
  ),
  approvals: new Map(approvals.map((approval) => [approval.approval_id, approval])),
  log: [],
  totals: {},
})

/** Reads the input of a batch as the pessimistic path does. */
function read(store: Store, commands: CommandBatch): DecisionInput {
  const wanted = commands.flatMap(({ command }) => (command.kind === 'create' ? command.row : []))
  const created = new Map<string, NewExecution>()
  for (const row of wanted)
    if (!store.rows.has(row.execution_id) && !created.has(row.execution_id))
      created.set(row.execution_id, row)
  const rows = new Map([
    ...store.rows,
    ...[...created].map(([id, row]) => [id, newRow(row)] as const),
  ])
  const gated = [...rows.values()].filter((row) => row.gated)
  const held = [...rows.values()].flatMap(({ held_by }) => held_by ?? [])
  return {
    rows,
    existing: new Map(),
    inserted: new Set(created.keys()),
    known: new Set(store.log.map((entry) => keyOf(entry.execution_id, entry))),
    expired: new Set([...store.deadlines].flatMap(([id, at]) => (at === 'passed' ? id : []))),
    approvals: new Map(
      gated.map(({ execution_id }) => [
        execution_id,
        [...store.approvals.values()].filter((one) => one.execution_id === execution_id),
      ]),
    ),
    slots: slotsOf(
      [...new Set(held)].map((worker_name) => ({
        worker_name,
        used: held.filter((name) => name === worker_name).length,
      })),
    ),
  }
}

function applyBatch(store: Store, commands: CommandBatch): CommandResult[] {
  const input = read(store, commands)
  const copies = new Map<string, WorkingCopy>()
  const results = commands.map((command) => applyCommand(input, copies, command, limits))
  const changed = [...copies.values()].filter(({ before, after }) => before !== after)
  for (const copy of changed) save(store, copy)
  for (const { state, delta } of totalsDeltas(changed))
    store.totals[state] = (store.totals[state] ?? 0) + delta
  return results
}

function save(store: Store, { before, after, ...copy }: WorkingCopy): void {
  const { execution_id, queued } = after
  store.rows.set(execution_id, after)
  store.log.push(...copy.entries)
  for (const approval of copy.approvals) store.approvals.set(approval.approval_id, approval)
  const { deadlineMs = undefined } = copy
  if (deadlineMs === undefined) store.deadlines.delete(execution_id)
  else if (deadlineMs !== 'kept') store.deadlines.set(execution_id, deadlineMs)
  if (!queued) store.queued.delete(execution_id)
  else if (copy.enteredQueue || !before) store.queued.set(execution_id, 'now')
}

const contentOf = (store: Store, results: readonly CommandResult[]) =>
  normalized({
    answers: results.map(answerOf),
    rows: [0, 1, 2].map((index) => store.rows.get(idAt(index))),
    deadlines: [0, 1, 2].map((index) => rounded(store.deadlines.get(idAt(index)))),
    queued: [0, 1, 2].map((index) => store.queued.get(idAt(index))),
    approvals: [...store.approvals.values()].sort(byId),
    logs: [0, 1, 2].map((index) => store.log.filter((entry) => entry.execution_id === idAt(index))),
    totals: Object.entries(store.totals)
      .filter(([, total]) => total !== 0)
      .sort(),
  })

/** Far deadlines count as one: a park until a time counts from its decision. */
const rounded = (deadline: number | string | undefined) =>
  typeof deadline === 'number' ? Math.min(deadline, 1_000_000) : deadline

const byId = (a: Approval, b: Approval) => (a.approval_id < b.approval_id ? -1 : 1)

test.each([
  { of: 'any kind', isOfApprovals: false },
  { of: 'approvals', isOfApprovals: true },
])('commands of $of in one batch: same rows, logs and answers as in separate ones', (kinds) => {
  fc.assert(
    fc.property(batchCase({ maxLength: 3, ...kinds }), (plan) => {
      const together = storeOf(plan)
      const separate = storeOf(plan)
      const answers = applyBatch(together, plan.commands)
      const single = plan.commands.flatMap((command) => applyBatch(separate, [command]))
      expect(contentOf(together, answers)).toEqual(contentOf(separate, single))
    }),
    { numRuns: 3_000 },
  )
})
