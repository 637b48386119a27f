/** One panel of a dashboard: what it shows, in which unit of Grafana, and its queries with their legends. */
export interface Panel {
  title: string
  unit: string
  queries: [expr: string, legend: string][]
}

export interface Dashboard {
  uid: string
  title: string
  panels: Panel[]
}

/** The rate of a counter in a window that suits the zoom of the panel. */
const rate = (series: string) => `rate(${series}[$__rate_interval])`

const quantile = (q: number, metric: string, by = '', selector = '') =>
  `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (${rate(`${metric}_bucket${selector}`)}))`

const panel = (title: string, unit: string, ...queries: Panel['queries']): Panel => ({
  title,
  unit,
  queries,
})

/** Median and 99th percentile of a histogram. */
const percentiles = (title: string, metric: string): Panel =>
  panel(title, 's', [quantile(0.5, metric), 'p50'], [quantile(0.99, metric), 'p99'])

const overview: Dashboard = {
  uid: 'windlass-overview',
  title: 'Windlass / Overview',
  panels: [
    panel('Executions created', 'ops', [
      `sum(${rate('windlass_executions_created_total')})`,
      'created',
    ]),
    panel('Executions ended', 'ops', [
      `sum by (state) (${rate('windlass_executions_ended_total')})`,
      '{{state}}',
    ]),
    panel('Ready queue', 'short', [
      'sum(max by (requirement) (windlass_queue_executions))',
      'executions',
    ]),
    panel('Oldest queued execution', 's', ['max(windlass_queue_oldest_seconds)', 'age']),
    panel('Requests', 'reqps', [
      `sum by (status) (${rate('windlass_http_requests_total')})`,
      '{{status}}',
    ]),
    panel('Share of requests answered 5xx', 'percentunit', [
      `sum(${rate('windlass_http_requests_total{status=~"5.."}')}) / sum(${rate('windlass_http_requests_total')})`,
      '5xx',
    ]),
    panel('Slowest routes, 99th percentile', 's', [
      `topk(10, ${quantile(0.99, 'windlass_http_request_duration_seconds', 'route')})`,
      '{{route}}',
    ]),
    panel('Workers', 'short', ['sum by (state) (windlass_workers)', '{{state}}']),
    panel('Processor', 'short', [
      `sum by (component) (${rate('windlass_cpu_seconds_total')})`,
      '{{component}}',
    ]),
    panel('Busiest event loop', 'percentunit', [
      `max by (component) (${rate('windlass_event_loop_active_seconds_total')})`,
      '{{component}}',
    ]),
    panel('Resident memory', 'bytes', [
      'sum by (component) (windlass_memory_bytes{kind="resident"})',
      '{{component}}',
    ]),
    panel('Failures of dependencies', 'ops', [
      `sum by (component, dependency, kind) (${rate('windlass_dependency_failures_total')})`,
      '{{component}}: {{dependency}} {{kind}}',
    ]),
  ],
}

const dispatch: Dashboard = {
  uid: 'windlass-dispatch',
  title: 'Windlass / Dispatch',
  panels: [
    panel('Ready queue by requirement', 'short', [
      'max by (requirement) (windlass_queue_executions)',
      '{{requirement}}',
    ]),
    panel('Oldest queued execution by requirement', 's', [
      'max by (requirement) (windlass_queue_oldest_seconds)',
      '{{requirement}}',
    ]),
    panel('Eligible workers by requirement', 'short', [
      'sum by (requirement) (windlass_eligible_workers)',
      '{{requirement}}',
    ]),
    percentiles('Ready to lease', 'windlass_execution_queue_seconds'),
    percentiles('Lease to claim', 'windlass_execution_claim_seconds'),
    panel('Claim to end by workflow, 99th percentile', 's', [
      `topk(10, ${quantile(0.99, 'windlass_execution_run_seconds', 'workflow')})`,
      '{{workflow}}',
    ]),
    panel('Leases', 'ops', [
      `sum by (outcome) (${rate('windlass_dispatched_total')})`,
      '{{outcome}}',
    ]),
    panel('Requeued executions', 'ops', [
      `sum by (workflow) (${rate('windlass_execution_requeues_total')})`,
      '{{workflow}}',
    ]),
    panel('Leases not written yet', 'short', ['sum(windlass_undelivered_leases)', 'leases']),
    panel('Dispatchers in a long poll', 'short', [
      'sum(windlass_waiting_dispatchers)',
      'dispatchers',
    ]),
  ],
}

const workers: Dashboard = {
  uid: 'windlass-workers',
  title: 'Windlass / Workers',
  panels: [
    panel('Connected workers', 'short', ['sum by (state) (windlass_workers)', '{{state}}']),
    panel('Slots', 'short', ['sum by (state) (windlass_worker_slots)', '{{state}}']),
    panel('Ends of streams', 'ops', [
      `sum by (reason) (${rate('windlass_worker_stream_ends_total')})`,
      '{{reason}}',
    ]),
    panel('Evictions', 'ops', [
      `sum by (reason) (${rate('windlass_worker_evictions_total')})`,
      '{{reason}}',
    ]),
    panel('Runs that ended', 'ops', [
      `sum by (outcome) (${rate('windlass_worker_executions_total')})`,
      '{{outcome}}',
    ]),
    panel('Delay of the loops of workflows, 95th percentile', 's', [
      'max by (instance) (windlass_worker_loop_lag_p95_seconds)',
      '{{instance}}',
    ]),
    panel('Duration of runs, 95th percentile', 's', [
      'max by (instance) (windlass_worker_execution_duration_p95_seconds)',
      '{{instance}}',
    ]),
    panel(
      'Share of failed and crashed runs',
      'percentunit',
      ['max by (instance) (windlass_worker_failure_rate)', 'failed, {{instance}}'],
      ['max by (instance) (windlass_worker_crash_rate)', 'crashed, {{instance}}'],
    ),
  ],
}

const stores: Dashboard = {
  uid: 'windlass-stores',
  title: 'Windlass / Stores',
  panels: [
    panel('PostgreSQL connections', 'short', [
      'sum by (component, state) (windlass_postgres_connections)',
      '{{component}} {{state}}',
    ]),
    panel('Waiting for a connection', 'short', [
      'sum by (component) (windlass_postgres_waiting)',
      '{{component}}',
    ]),
    panel('Commits of the execution writer', 'ops', [
      `sum by (path) (${rate('windlass_writer_commits_total')})`,
      '{{path}}',
    ]),
    panel('Commands in a batch', 'short', [
      `sum by (path) (${rate('windlass_writer_batch_commands_sum')}) / sum by (path) (${rate('windlass_writer_batch_commands_count')})`,
      '{{path}}',
    ]),
    panel('Batch, 99th percentile', 's', [
      quantile(0.99, 'windlass_writer_batch_seconds', 'path'),
      '{{path}}',
    ]),
    panel('Conflicts', 'ops', [`sum(${rate('windlass_writer_conflicts_total')})`, 'rows']),
    panel('Commits for each execution', 'short', [
      `sum(${rate('windlass_writer_commits_total')}) / sum(${rate('windlass_executions_ended_total')})`,
      'commits',
    ]),
    panel('Relay lag', 's', ['max(windlass_relay_lag_seconds)', 'oldest event']),
    panel('Outbox', 'short', ['max by (component) (windlass_outbox_events)', '{{component}}']),
    panel('Cache lookups', 'ops', [
      `sum by (cache, result) (${rate('windlass_cache_lookups_total')})`,
      '{{cache}} {{result}}',
    ]),
    panel('Emptied caches', 'ops', [
      `sum by (cache) (${rate('windlass_cache_generations_total')})`,
      '{{cache}}',
    ]),
    panel('Slowest rpcs, 99th percentile', 's', [
      `topk(10, ${quantile(0.99, 'windlass_rpc_duration_seconds', 'rpc', '{rpc!~".*AwaitWork"}')})`,
      '{{rpc}}',
    ]),
  ],
}

const schedules: Dashboard = {
  uid: 'windlass-schedules',
  title: 'Windlass / Schedules',
  panels: [
    panel('Ticks', 'ops', [
      `sum by (outcome) (${rate('windlass_schedule_ticks_total')})`,
      '{{outcome}}',
    ]),
    percentiles('Lag of ticks', 'windlass_schedule_lag_seconds'),
    panel('Overdue', 's', ['max(windlass_schedule_overdue_seconds)', 'oldest due tick']),
    panel('Rounds of the scheduler that failed', 'ops', [
      `sum by (loop) (${rate('windlass_loop_rounds_total{component="scheduler", outcome="failed"}')})`,
      '{{loop}}',
    ]),
  ],
}

export const dashboards: readonly Dashboard[] = [overview, dispatch, workers, stores, schedules]
