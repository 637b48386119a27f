import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { DEMO_TYPES, type LogEntry } from '../home/demo-steps.ts'
import { read, send, sendStart } from './server.ts'
import { workflowPath } from './workflows.ts'

const DEMO_WORKFLOW = 'ten_tasks'
export const DEMO_TASKS = 10
/** Duration of each task: long enough to kill the worker while it runs. */
const SECONDS = 1.5

/** Starts the workflow of the demonstration, which `npm start` uploads; returns the id of its execution. */
export async function startDemo(): Promise<string> {
  const run = `${workflowPath('default', DEMO_WORKFLOW)}/run/async`
  const answer = await sendStart({ method: 'POST', path: run, body: String(SECONDS) })
  return stringOf(membersOf(answer ?? '')?.get('execution_id')) ?? ''
}

/** Kills the workers of `npm start`; returns their number. */
export async function crashWorkers(): Promise<number> {
  const answer = await send({ method: 'POST', path: '/demo/crash-worker' })
  return (JSON.parse(answer) as { killed: number }).killed
}

/** Reads the log entries that show which task ran in which attempt. */
export async function readDemo(id: string, signal: AbortSignal): Promise<LogEntry[]> {
  const query = { types: DEMO_TYPES.join(','), limit: '1000', payloads: 'omit' }
  const path = `/executions/${encodeURIComponent(id)}/log`
  return (await read<{ entries: LogEntry[] }>(path, query, signal)).entries
}
