import { isTerminal, STATES, type State } from '@windlass/domain/states'
import { expect, test } from 'vitest'
import { next, type Trigger, transitions } from './lifecycle.ts'

const triggers = Object.keys(transitions) as Trigger[]

test('a terminal state: no trigger leaves it', () => {
  for (const state of STATES.filter(isTerminal))
    for (const trigger of triggers)
      expect(() => next(state, trigger), `${trigger} from ${state}`).toThrow('finished')
})

test('a listed transition: leads to its state; an unlisted one: refused', () => {
  for (const state of STATES)
    for (const trigger of triggers) {
      const to = transitions[trigger][state]
      if (to) expect(next(state, trigger)).toBe(to)
      else expect(() => next(state, trigger)).toThrow()
    }
})

test('each non-terminal state: a terminal state is reachable', () => {
  const reached = new Set(STATES.filter(isTerminal))
  for (let grown = true; grown; ) {
    grown = false
    for (const trigger of triggers)
      for (const [from, to] of Object.entries(transitions[trigger]))
        if (reached.has(to) && !reached.has(from as never)) grown = !!reached.add(from as never)
  }
  expect([...reached].sort()).toEqual(STATES.filter((state) => state !== 'CREATED').sort())
})

test('each non-terminal state: ends by a deadline, an eviction, or a known request', () => {
  const awaited: Partial<Record<State, string>> = { PAUSED: 'resume' }
  const guards: readonly Trigger[] = ['lose', 'time_out']
  for (const state of STATES.filter((one) => !isTerminal(one) && one !== 'CREATED')) {
    const guarded = guards.some((trigger) => transitions[trigger][state] !== undefined)
    const named = awaited[state] as Trigger | undefined
    expect(guarded || (named && transitions[named][state] !== undefined), state).toBe(true)
    expect(transitions.cancel[state], `cancel from ${state}`).toBeDefined()
  }
})
