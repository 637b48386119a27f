interface WorkerProfile {
  labels?: Record<string, string>
  packages?: { name: string; version: string }[]
  /** Maximum of concurrent executions; 0: unlimited. */
  capacity?: number
  runners?: string[]
  /** Additions to the protocol that it announces. */
  features?: readonly string[]
}

const RUNNERS = ['inprocess', 'subprocess']

/** Builds the record with which a test's worker registers: 8 processors, 8 GiB, 1 TiB. */
export const workerRecord = (
  name: string,
  { labels = {}, packages = [], capacity = 0, runners = RUNNERS, features }: WorkerProfile = {},
) => ({
  name,
  runtime: { os_name: 'Linux', os_version: '6.1', python_version: '3.12.1' },
  packages,
  resources: {
    cpu_total: 8,
    cpu_available: 7.5,
    memory_total: 2 ** 33,
    memory_available: 2 ** 33,
    disk_total: 2 ** 40,
    disk_free: 2 ** 40,
    gpus: [],
  },
  labels,
  max_concurrent_executions: capacity,
  runners,
  ...(features && { features }),
})
