import type { AnswerAge } from './poll.ts'
import { read, send } from './server.ts'

export interface WorkerRow {
  name: string
  status: string
  runtime: { os_name: string; os_version: string; python_version: string } | null
  resources: {
    cpu_total: number
    cpu_available: number
    memory_total: number
    memory_available: number
    disk_total: number
    disk_free: number
    gpus: { name: string }[]
  } | null
  packages: { name: string; version: string }[]
  labels: Record<string, string>
  metrics: Record<string, number>
  max_concurrent_executions?: number | null
  runners?: string[]
  last_seen_at?: string | null
}

export const listWorkers = (signal?: AbortSignal, age?: AnswerAge) =>
  read<WorkerRow[]>('/workers', {}, signal, age)

export const getWorker = (name: string, signal?: AbortSignal) =>
  read<WorkerRow>(`/workers/${encodeURIComponent(name)}`, {}, signal)

/** Number of executions that a worker holds, and its maximum; undefined if it does not report it. */
export function slotsOf({ metrics, max_concurrent_executions: most }: WorkerRow) {
  return { used: metrics['flux.running_executions'], most: most ?? undefined }
}

/** Creates a token with which one worker can register within a day; returns the token. */
export async function createWorkerToken(): Promise<string> {
  const name = `console-${Date.now().toString(36)}`
  const body = JSON.stringify({ name, expires_in_days: 1, max_uses: 1 })
  const answer = await send({ method: 'POST', path: '/admin/worker-tokens', body })
  return (JSON.parse(answer) as { token: string }).token
}
