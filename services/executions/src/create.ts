import type { Db } from '@windlass/runtime/db'
import type { Change } from './command.ts'
import type { Effect } from './flush.ts'
import { freshRow } from './scene.ts'
import type { NewExecution } from './store/executions.ts'
import * as unlocked from './store/unlocked.ts'
import type { Done } from './unlocked.ts'

/** Makes new executions. One that is there already has no result here: that takes a look at its row. */
export async function createNew(db: Db, changes: readonly Change[]): Promise<Done> {
  const first = new Map<string, { change: Change; row: NewExecution }>()
  for (const change of changes) {
    const { execution_id, command } = change
    if (command.kind === 'create' && !first.has(execution_id))
      first.set(execution_id, { change, row: command.row })
  }
  const rows = [...first.values()].map(({ row }) => row)
  const made = await unlocked.insert(db, rows.sort(byId))
  const done: Done = { results: new Map(), effects: [] }
  for (const { change, row } of first.values()) {
    if (!made.has(row.execution_id)) continue
    const execution = freshRow(row)
    done.results.set(change, { execution, changed: true })
    done.effects.push({ before: undefined, after: execution, entries: [] } satisfies Effect)
  }
  return done
}

/** In one order everywhere, so that no two flushes wait for one another. */
const byId = (a: NewExecution, b: NewExecution) => (a.execution_id < b.execution_id ? -1 : 1)
