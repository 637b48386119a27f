interface WorkerProfile {
  labels?: Record<string, string>
  packages?: { name: string; version: string }[]
  capacity?: number
}

/** Builds the record with which a test's worker registers. */
export const workerRecord = (
  name: string,
  { labels = {}, packages = [], capacity = 0 }: WorkerProfile,
) => ({
  name,
  runtime: { os_name: 'Linux', os_version: '6.1', python_version: '3.12.1' },
  packages,
  resources: {
    cpu_total: 8,
    cpu_available: 8,
    memory_total: 2 ** 33,
    memory_available: 2 ** 33,
    disk_total: 2 ** 40,
    disk_free: 2 ** 40,
    gpus: [],
  },
  labels,
  max_concurrent_executions: capacity,
  runners: ['inprocess', 'subprocess'],
})
