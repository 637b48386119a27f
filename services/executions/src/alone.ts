import type { Db } from '@windlass/runtime/db'
import type { Change, Command } from './command.ts'
import type { Limits } from './domain/execution.ts'
import { apply, type Draught, deltasOf } from './draught.ts'
import type { Flushed } from './flush.ts'
import { freshRow, keyOf, type Scene } from './scene.ts'
import * as single from './store/single.ts'

/** The commands that need nothing but their own row and its log. */
const PLAIN = new Set<Command['kind']>([
  'create',
  'claim',
  'checkpoint',
  'release',
  'resume',
  'cancel',
  'verify',
])

/**
 * One command without a transaction: reads the row without a lock, decides, and writes row, log and
 * totals in one statement that takes effect only if nothing came between. Two round trips and two
 * statements, where the way of the many takes seven. Undefined: it was not done, go that way.
 */
export async function alone(db: Db, change: Change, limits: Limits): Promise<Flushed | undefined> {
  const { execution_id, command } = change
  if (!PLAIN.has(command.kind)) return undefined
  if (command.kind === 'create') {
    if (!(await single.insert(db, command.row))) return undefined
    const execution = freshRow(command.row)
    const effects = [{ before: undefined, after: execution, entries: [] }]
    return { results: [{ execution, changed: true }], effects }
  }
  const event_ids =
    command.kind === 'checkpoint'
      ? command.report.events.flatMap(({ event_id }) => event_id ?? [])
      : []
  const row = await single.read(db, execution_id, event_ids)
  if (row?.gated) return undefined
  const scene: Scene = {
    rows: new Map(row ? [[execution_id, row]] : []),
    earlier: new Map(),
    created: new Set(),
    known: new Set(
      row?.known_types.map((type, i) => keyOf(execution_id, { type, event_id: row.known_ids[i] })),
    ),
    due: new Set(),
    approvals: new Map(),
    takeSlot: () => false,
  }
  const draughts = new Map<string, Draught>()
  const results = [apply(scene, draughts, change, limits)]
  const [draught] = draughts.values()
  if (!draught?.before || draught.before === draught.after) return { results, effects: [] }
  const { before, after, entries, deadlineMs } = draught
  const written = await single.write(db, {
    before,
    change: { next: after, deadlineMs },
    entries,
    deltas: deltasOf([draught]),
  })
  return written ? { results, effects: [draught] } : undefined
}
