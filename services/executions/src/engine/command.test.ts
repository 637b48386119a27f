import { isTerminal, STATES, type State } from '@windlass/domain/states'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { decisionContext, inState } from '../../test/execution-samples.ts'
import type { Execution } from '../domain/execution.ts'
import { type Trigger, transitions } from '../domain/lifecycle.ts'
import { type Command, decide } from './command.ts'

type CommandOfRow = Exclude<Command, { kind: 'create' | 'request_approval' | 'decide_approval' }>

const holder = { worker_name: 'a', session_id: 's', claim_generation: 1 }
const report = (state: string): CommandOfRow => ({
  kind: 'checkpoint',
  report: { holder: holder, state, events: [], output_json: '2' },
})
const offer = { worker_name: 'a', session_id: 's', connection_generation: 1 }

/** Each command with its trigger; worker commands come from the holder, with the current fencing token. */
const commands: [name: string, command: CommandOfRow, trigger: Trigger][] = [
  ['lease', { kind: 'lease', offer, capacity: 0 }, 'lease'],
  ['claim', { kind: 'claim', holder }, 'claim'],
  ['checkpoint RUNNING', report('RUNNING'), 'work'],
  ['checkpoint PAUSED', report('PAUSED'), 'pause'],
  ['checkpoint COMPLETED', report('COMPLETED'), 'complete'],
  ['checkpoint FAILED', report('FAILED'), 'fail'],
  ['checkpoint CANCELLED', report('CANCELLED'), 'confirm_cancel'],
  ['release', { kind: 'release', holder }, 'lose'],
  ['eviction', { kind: 'lose', held_by: 'a', upToConnection: 1, loss: 'died' }, 'lose'],
  ['resume', { kind: 'resume', body_json: '3' }, 'resume'],
  ['cancel', { kind: 'cancel' }, 'cancel'],
]
const stored = STATES.filter((state) => state !== 'CREATED')
const LEASED: Execution = { ...inState('CLAIMED'), state: 'SCHEDULED' }

const rows: [name: string, row: Execution][] = [
  ...stored.map((state): [string, Execution] => [state, inState(state)]),
  ['SCHEDULED, leased', LEASED],
]
const pairs = rows.flatMap(([name, row]) =>
  commands.map(([what, command, trigger]) => ({ name, row, what, command, trigger })),
)

/** State after the command; the same for a no-op; undefined for a refusal. */
function outcome(row: Execution, command: CommandOfRow): State | undefined {
  try {
    return decide(Object.freeze(row), command, decisionContext()).next.state
  } catch (error) {
    expect(error).toBeInstanceOf(Fault)
    return undefined
  }
}

/** Cases that the holder, or a repeated command, decides instead of the table. */
function exception({ row, command, what }: (typeof pairs)[number]): State | 'refused' | undefined {
  const isHeld = row.held_by !== undefined
  if (command.kind === 'lease' && !row.queued) return row.state
  if (command.kind === 'lose' && !isHeld) return row.state
  if (command.kind === 'claim' && isHeld && !row.state.endsWith('SCHEDULED')) return row.state
  if (command.kind === 'claim' && !isHeld) return 'refused'
  if (command.kind === 'release' && !isHeld) return 'refused'
  if (command.kind !== 'checkpoint') return undefined
  return reported(row, what.replace('checkpoint ', ''))
}

function reported(row: Execution, said: string): State | 'refused' | undefined {
  if (isTerminal(row.state) || row.state === 'PAUSED')
    return said === row.state && row.output_json === undefined ? undefined : 'refused'
  if (!row.held_by) return 'refused'
  const isLeased = row.state.endsWith('SCHEDULED')
  if (said === 'CANCELLED' && row.state !== 'CANCELLING')
    return transitions.lose[row.state] ?? 'refused'
  return isLeased ? 'refused' : undefined
}

test.each(pairs)('$what from $name: accepted or refused by the table', (pair) => {
  const { row, command, trigger } = pair
  const special = exception(pair)
  if (isTerminal(row.state) || row.state === 'PAUSED')
    if (command.kind === 'checkpoint') {
      // A repeated checkpoint is accepted, any other one is refused: the state stays.
      expect(outcome(row, command) ?? row.state).toBe(row.state)
      return
    }
  const expected = special ?? transitions[trigger][row.state] ?? 'refused'
  expect(outcome(row, command) ?? 'refused').toBe(expected)
})

test('expire: changes queued and held executions whose deadline has passed, and no others', () => {
  for (const [name, row] of rows) {
    const expire = { kind: 'expire' } as const
    expect(decide(row, expire, decisionContext()).next, name).toBe(row)
    const { next } = decide(row, expire, decisionContext({ isDue: true }))
    const trigger = row.queued ? 'time_out' : 'lose'
    const moves = row.queued || row.held_by !== undefined
    expect(next.state, name).toBe(moves ? transitions[trigger][row.state] : row.state)
  }
})
