import { getMembers } from '@windlass/api-client/payload'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { read, send, sendStart } from './server.ts'

const pathOf = (id: string) => `/executions/${encodeURIComponent(id)}`
const idIn = (answer: string | undefined) => stringOf(membersOf(answer ?? '')?.get('execution_id'))

export interface Again {
  /** JSON text of another input; undefined: that of the execution. */
  input?: string | undefined
  version?: number | undefined
}

/** Members of a request that repeats an execution. */
export const membersFor = ({ input, version }: Again) => [
  ...(input === undefined ? [] : [`"input":${input}`]),
  ...(version === undefined ? [] : [`"version":${version}`]),
]

/** Starts an execution like another one; returns its id. */
export async function rerun(id: string, again: Again, key?: string): Promise<string> {
  const body = `{${membersFor(again)}}`
  return idIn(await sendStart({ method: 'POST', path: `${pathOf(id)}/rerun`, body }, key)) ?? ''
}

/** Effect of a fork. */
export interface ForkPlan {
  entries: number
  calls: number
  runs_again: { call_id: string; name: string; seq: number }[]
  cut: boolean
}

const forkBody = (after: number, isDryRun: boolean, again: Again) =>
  `{${[`"after_seq":${after}`, `"dry_run":${isDryRun}`, ...membersFor(again)]}}`

/** Returns which calls a fork after an entry would run again; starts nothing. */
export async function planFork(
  id: string,
  { after, ...again }: Again & { after: number },
  signal?: AbortSignal,
): Promise<ForkPlan> {
  const request = {
    method: 'POST',
    path: `${pathOf(id)}/fork`,
    body: forkBody(after, true, again),
  } as const
  return (JSON.parse(await send(request, signal)) as { plan: ForkPlan }).plan
}

/** Starts an execution that begins with the log of another one up to an entry; returns its id. */
export async function fork(id: string, after: number, again: Again): Promise<string> {
  const path = `${pathOf(id)}/fork`
  const answer = await sendStart({ method: 'POST', path, body: forkBody(after, false, again) })
  return idIn(getMembers(answer, ['execution']).execution) ?? ''
}

const PAGE = 1_000
/** Maximum number of log pages in which an entry is searched for. */
const MAX_PAGES = 100

interface LogPage {
  entries: { seq: number; id: string }[]
  last_seq: number
  more_after: boolean
}

/** Returns the number of an entry in a log; the last one if the entry is not found. */
export async function seqOf(id: string, entry: string, signal?: AbortSignal): Promise<number> {
  let after = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { after: String(after), limit: String(PAGE), payloads: 'omit' }
    const { entries, last_seq, more_after } = await read<LogPage>(
      `${pathOf(id)}/log`,
      query,
      signal,
    )
    const found = entries.find((one) => one.id === entry)
    if (found) return found.seq
    after = entries.at(-1)?.seq ?? last_seq
    if (!more_after) break
  }
  return after
}

export interface ComparedSide {
  execution_id: string
  workflow_namespace: string
  workflow_name: string
  workflow_version: number
  state: string
  created_at: string | null
  /** Seconds. */
  queue_wait: number | null
  run_time: number | null
  input_bytes: number | null
  output_bytes: number | null
  error: string | null
}

interface ComparedCall {
  seq: number
  state: string
  duration_ms: number | null
}

export interface Comparison {
  a: ComparedSide
  b: ComparedSide
  same_workflow: boolean
  same_version: boolean
  input: { same: boolean; members: string[] }
  output: { same: boolean }
  calls: {
    same: number
    different: number
    only_a: number
    only_b: number
    first: { name: string; kind: string; a: ComparedCall | null; b: ComparedCall | null } | null
    cut: boolean
  }
}

export const compare = (a: string, b: string, signal?: AbortSignal) =>
  read<Comparison>(`${pathOf(a)}/diff/${encodeURIComponent(b)}`, {}, signal)
