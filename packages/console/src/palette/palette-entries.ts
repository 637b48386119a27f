import { address, executionAddress, startAddress, workflowAddress } from '../location/address.ts'
import { SCREEN_KEYS } from './keys.ts'

/** A line of the palette. */
export interface PaletteEntry {
  /** Kind of the target, in a word. */
  kind: string
  label: string
  /** An address, or an action. */
  to: string | (() => void)
}

interface Known {
  workflows: readonly { namespace: string; name: string }[]
  actions: readonly PaletteEntry[]
  /** Current time in milliseconds since 1970. */
  now: number
}

const MAX_ENTRIES = 50
const ID = /^[0-9a-f]{32}$/
const ID_BEGIN = /^[0-9a-f]{4,31}$/

/** Lines for a text, those that begin with it before those that have all of its words. */
export function entriesFor(text: string, { workflows, actions, now }: Known): PaletteEntry[] {
  const typed = text.trim().toLowerCase()
  const all: PaletteEntry[] = [
    ...SCREEN_KEYS.map(([, to, label]) => ({ kind: 'screen', label, to })),
    ...actions,
    ...workflows.flatMap(({ namespace, name }) => [
      { kind: 'workflow', label: `${namespace}/${name}`, to: workflowAddress(namespace, name) },
      { kind: 'run', label: `Run ${namespace}/${name}`, to: startAddress(namespace, name) },
    ]),
  ]
  const words = typed.split(/\s+/)
  const found = all.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
  const begins = ({ label }: PaletteEntry) => label.toLowerCase().startsWith(typed)
  const sorted = [...found.filter(begins), ...found.filter((one) => !begins(one))]
  return [...idsFor(typed), ...sorted.slice(0, MAX_ENTRIES), ...searchesFor(text.trim(), now)]
}

/** The execution of an id, or those whose ids begin with it. */
function idsFor(typed: string): PaletteEntry[] {
  const id = typed.replaceAll('-', '')
  if (ID.test(id)) return [{ kind: 'execution', label: id, to: executionAddress(id) }]
  if (!ID_BEGIN.test(id)) return []
  const to = address('executions', { id })
  return [{ kind: 'search', label: `Executions whose id begins with ${id}`, to }]
}

const WEEK_MS = 7 * 86_400_000

/** The server searches errors within a time only. */
function searchesFor(text: string, now: number): PaletteEntry[] {
  if (text === '') return []
  const created_after = new Date(now - WEEK_MS).toISOString()
  return [
    {
      kind: 'search',
      label: `Executions of seven days whose error has “${text}”`,
      to: address('executions', { error: text, created_after }),
    },
  ]
}
