import type { AnswerAge } from './poll.ts'
import { read } from './server.ts'

/** Executions that wait with the same requirement. */
export interface QueueRow {
  requirement_id: string
  requirement: {
    packages: string[]
    affinity: Record<string, string>
    runner: string | null
    namespace: string | null
  }
  depth: number
  /** False if there are more than `depth`. */
  depth_exact: boolean
  oldest: string | null
  rates: { created_per_minute: number; started_per_minute: number }
  /** Connected workers that could run them. */
  workers: { name: string; used: number; capacity: number | null }[]
}

export interface Queue {
  queues: QueueRow[]
  cut: boolean
}

export const readQueue = (signal?: AbortSignal, age?: AnswerAge) =>
  read<Queue>('/queue', {}, signal, age)
