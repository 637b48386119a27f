import type { Declaration } from '../packages/runtime/src/metrics/instruments.ts'

const gauge = (name: string, help: string): { declaration: Declaration } => ({
  declaration: { name: `windlass_worker_${name}`, kind: 'gauge', help, labels: [] },
})

/** Metrics of the health port of a worker, declared in `sdk/python`; a test compares the names. */
export const workerMetrics: Record<string, { declaration: Declaration }> = {
  running: gauge('running_executions', 'Executions that the worker runs or claims.'),
  slots: gauge('slots_free', 'Free slots; absent without a limit.'),
  lag: gauge('loop_lag_seconds', 'Last delay of the loop that runs workflows.'),
  lagP95: gauge('loop_lag_p95_seconds', '95th percentile of the last 100 delays.'),
  failures: gauge('failure_rate', 'Share of the last 100 runs that failed.'),
  crashes: gauge('crash_rate', 'Share of the last 100 runs whose process ended.'),
  rate: gauge('executions_per_minute', 'Runs that ended within the last minute.'),
  durationP95: gauge(
    'execution_duration_p95_seconds',
    '95th percentile of the durations of the last 100 runs.',
  ),
  startup: gauge(
    'startup_overhead_seconds',
    'Median time from the start of a run to its first event, of the last 100 runs.',
  ),
  modules: gauge('warm_modules', 'Versions of sources that the worker has run, at most 64.'),
  cpu: gauge('cpu_percent', 'Processor time between the last pongs, in percent of one processor.'),
  memory: gauge('memory_available_bytes', 'Available memory, within the limits of control groups.'),
  load: gauge('load_avg_1m', 'Load average of one minute.'),
  ends: {
    declaration: {
      name: 'windlass_worker_executions_total',
      kind: 'counter',
      help: 'Runs that ended, by outcome: a state in lower case, crashed, released.',
      labels: ['outcome'],
    },
  },
}
