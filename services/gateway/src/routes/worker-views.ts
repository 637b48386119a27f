import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { z } from 'zod'
import { text } from '../route/fields.ts'
import { timeOf } from './responses.ts'

const amount = z.number().min(0)
export const Runtime = z.object({
  os_name: text(255),
  os_version: text(255),
  python_version: text(255),
})
export const Package = z.object({ name: text(255), version: text(255) })
const Gpu = z.object({ name: text(255), memory_total: amount, memory_available: amount })
export const Resources = z.object({
  cpu_total: amount,
  cpu_available: amount,
  memory_total: amount,
  memory_available: amount,
  disk_total: amount,
  disk_free: amount,
  gpus: z.array(Gpu).max(64).default([]),
})

export const WorkerView = z
  .object({
    name: z.string(),
    status: z.string(),
    runtime: Runtime.nullable(),
    resources: Resources.nullable(),
    packages: z.array(Package),
    labels: z.record(z.string(), z.string()),
    metrics: z.record(z.string(), z.number()),
    max_concurrent_executions: z.int().nullable(),
    runners: z.array(z.string()),
    last_seen_at: z.string().nullable(),
  })
  .meta({ id: 'Worker' })

export const workerView = (worker: Worker): z.input<typeof WorkerView> => ({
  name: worker.name,
  status: worker.status,
  runtime: worker.runtime ?? null,
  resources: worker.resources ?? null,
  packages: worker.packages,
  labels: worker.labels,
  metrics: worker.metrics,
  max_concurrent_executions: worker.max_concurrent_executions || null,
  runners: worker.runners,
  last_seen_at: timeOf(worker.last_seen_at),
})
