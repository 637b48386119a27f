import type { CallOutcome, HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { Handlers } from '@windlass/rpc/call'
import { notFound } from '@windlass/runtime/faults'
import { membersOf } from '@windlass/runtime/json/json'
import type { Db } from '@windlass/runtime/postgres/db'
import { type ComparedCall, callsOf, compareCalls } from '../domain/compare-calls.ts'
import * as store from '../store/comparisons.ts'
import { toRow } from './search-executions.ts'

/** Maximum number of entries of each log that are compared. */
const MAX_ENTRIES = 100_000
const MAX_MEMBERS = 100

/** Creates the handler of `Compare`. */
export const createCompareHandler =
  (db: Db): Handlers<typeof HistoryService>['compare'] =>
  async ({ a, b }) => {
    const [rowA, rowB] = await Promise.all([readRow(db, a), readRow(db, b)])
    const [entriesA, entriesB] = await Promise.all(
      [a, b].map((id) => store.readDigests(db, id, MAX_ENTRIES)),
    )
    const calls = compareCalls(callsOf(entriesA ?? []), callsOf(entriesB ?? []))
    const { first } = calls
    const named = first?.a ?? first?.b
    return {
      ...{ a: toRow(rowA), b: toRow(rowB) },
      ...(await store.compareTexts(db, a, b)),
      input_members: await differingMembers(db, a, b),
      ...{ same_calls: calls.same, different_calls: calls.different },
      ...{ only_a: calls.only_a, only_b: calls.only_b },
      first: first &&
        named && {
          ...{ call_id: named.call_id, name: named.name, kind: first.kind },
          ...{ a: outcomeOf(first.a), b: outcomeOf(first.b) },
        },
      cut: Math.max(rowA.last_seq, rowB.last_seq) > MAX_ENTRIES,
    }
  }

async function readRow(db: Db, execution_id: string) {
  const row = await store.readRow(db, execution_id)
  if (!row) throw notFound('Execution', execution_id)
  return row
}

const outcomeOf = (call: ComparedCall | undefined): CallOutcome | undefined =>
  call && {
    ...{ seq: call.seq, last_seq: call.last_seq, state: call.state },
    duration_ms: call.duration_ms,
  }

/** Names of the members whose texts differ in two objects of moderate size. */
async function differingMembers(db: Db, a: string, b: string): Promise<string[]> {
  const inputs = await store.readSmallInputs(db, [a, b])
  const [membersA, membersB] = [a, b].map((id) => membersOf(inputs.get(id) ?? 'null'))
  if (!membersA || !membersB) return []
  const names = new Set([...membersA.keys(), ...membersB.keys()])
  return [...names]
    .filter((name) => membersA.get(name) !== membersB.get(name))
    .slice(0, MAX_MEMBERS)
}
