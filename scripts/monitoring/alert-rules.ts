/** One alert: when it fires, after how long, and what to do. */
export interface AlertRule {
  alert: string
  expr: string
  for: string
  severity: 'critical' | 'warning'
  summary: string
  description: string
}

const DAY_S = 86_400
const CERTIFICATE_DAYS = 14
const KEY_DAYS = 365
const CHECKPOINT_OVERDUE_S = 3_600

export const alertRules: readonly AlertRule[] = [
  {
    alert: 'WindlassServiceDown',
    expr: 'up{job="windlass"} == 0',
    for: '1m',
    severity: 'critical',
    summary: 'A process of Windlass does not answer on its admin port',
    description: 'Look at the log of {{ $labels.instance }} and at /ready of its admin port.',
  },
  {
    alert: 'WindlassQueueAge',
    expr: 'max by (requirement) (windlass_queue_oldest_seconds) > 300',
    for: '5m',
    severity: 'warning',
    summary: 'An execution has been in the ready queue for more than five minutes',
    description:
      'Requirement {{ $labels.requirement }}: the workers that meet it are full, or there is none. GET /executions/ID/explain says which.',
  },
  {
    alert: 'WindlassNoEligibleWorker',
    expr: '(max by (requirement) (windlass_queue_executions) > 0) unless on (requirement) (sum by (requirement) (windlass_eligible_workers) > 0)',
    for: '5m',
    severity: 'critical',
    summary: 'No healthy worker meets the requirement of queued executions',
    description:
      'Requirement {{ $labels.requirement }}: start a worker that meets it. GET /executions/ID/explain names the smallest change.',
  },
  {
    alert: 'WindlassEvictionStorm',
    expr: 'sum(increase(windlass_worker_evictions_total[5m])) > clamp_min(0.1 * sum(windlass_workers), 3)',
    for: '0m',
    severity: 'critical',
    summary: 'More than a tenth of the workers were evicted within five minutes',
    description:
      'Look at the network between workers and gateways, and at the load of the dispatchers.',
  },
  {
    alert: 'WindlassRelayLag',
    expr: 'max(windlass_relay_lag_seconds) > 60',
    for: '5m',
    severity: 'warning',
    summary: 'Ends of executions are published more than a minute late',
    description:
      'NATS is unavailable, or a transaction stays open in the database (pg_stat_activity): schedules notice ends by polling only.',
  },
  {
    alert: 'WindlassOutbox',
    expr: 'max by (component) (windlass_outbox_events) > 100',
    for: '5m',
    severity: 'warning',
    summary: 'Events wait in the outbox of {{ $labels.component }}',
    description: 'NATS is unavailable, or the relay of {{ $labels.component }} fails; see its log.',
  },
  {
    alert: 'WindlassHttpErrors',
    expr: 'sum(rate(windlass_http_requests_total{status=~"5.."}[5m])) / sum(rate(windlass_http_requests_total[5m])) > 0.01',
    for: '5m',
    severity: 'critical',
    summary: 'More than 1 % of the requests are answered 5xx',
    description: 'Search the logs of the gateways for lines of level error and status 5xx.',
  },
  {
    alert: 'WindlassRpcFailures',
    expr: 'sum by (component, rpc) (rate(windlass_rpc_requests_total{outcome="failed"}[5m])) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'Calls of {{ $labels.rpc }} fail unexpectedly',
    description: 'Search the log of {{ $labels.component }} for: rpc failed unexpectedly.',
  },
  {
    alert: 'WindlassScheduleLag',
    expr: 'max(windlass_schedule_overdue_seconds) > 60',
    for: '2m',
    severity: 'critical',
    summary: 'A tick of a schedule is more than a minute late',
    description: 'No scheduler is running, or its loop fails; see the log of the schedulers.',
  },
  {
    alert: 'WindlassDependencyFailures',
    expr: 'sum by (component, dependency, kind) (rate(windlass_dependency_failures_total[5m])) > 0.1',
    for: '5m',
    severity: 'warning',
    summary: '{{ $labels.component }}: {{ $labels.dependency }} is {{ $labels.kind }}',
    description: 'docs/operations.md lists what happens while a dependency does not answer.',
  },
  {
    alert: 'WindlassLoopFailures',
    expr: 'sum by (component, loop) (rate(windlass_loop_rounds_total{outcome="failed"}[5m])) > 0',
    for: '10m',
    severity: 'warning',
    summary: 'The loop {{ $labels.loop }} of {{ $labels.component }} keeps failing',
    description: 'Search the log of {{ $labels.component }} for: loop round failed.',
  },
  {
    alert: 'WindlassEventLoopDelay',
    expr: 'max by (component, instance) (windlass_event_loop_delay_seconds{quantile="0.99"}) > 0.5',
    for: '5m',
    severity: 'warning',
    summary: 'The event loop of {{ $labels.component }} is overloaded',
    description:
      'Add a replica of {{ $labels.component }}, or give {{ $labels.instance }} more processor time.',
  },
  {
    alert: 'WindlassPoolExhausted',
    expr: 'min_over_time(windlass_postgres_waiting[2m]) > 0',
    for: '0m',
    severity: 'warning',
    summary: '{{ $labels.component }} waits for database connections',
    description:
      'Statements are slow (pg_stat_activity), or [svc.postgres].max_connections is too low for the load.',
  },
  {
    alert: 'WindlassProblem',
    expr: 'max by (component, instance, problem) (windlass_problems) > 0',
    for: '0m',
    severity: 'critical',
    summary: '{{ $labels.component }}: {{ $labels.problem }}',
    description:
      'docs/operations.md (Problems that need an operator) says what to do; {{ $labels.instance }} continues without a restart.',
  },
  {
    alert: 'WindlassCertificateExpiry',
    expr: `min by (component, listener) (windlass_certificate_expiry_seconds) - time() < ${CERTIFICATE_DAYS * DAY_S}`,
    for: '0m',
    severity: 'warning',
    summary: `The certificate of {{ $labels.listener }} expires within ${CERTIFICATE_DAYS} days`,
    description: 'Replace the files; they are read again without a restart.',
  },
  {
    alert: 'WindlassEncryptionKeyAge',
    expr: `time() - max(windlass_encryption_key_since_seconds) > ${KEY_DAYS * DAY_S}`,
    for: '1h',
    severity: 'warning',
    summary: 'The key of the stored secrets is more than a year old',
    description:
      'docs/security.md (Rotating the key) says how to replace it while the services run.',
  },
  {
    alert: 'WindlassAuditCheckpoint',
    expr: `max(windlass_audit_checkpoint_overdue_seconds) > ${CHECKPOINT_OVERDUE_S}`,
    for: '5m',
    severity: 'warning',
    summary: 'Entries of the audit log have no signed checkpoint in time',
    description:
      'Their change would not be detected. Search the log of identity for: loop round failed (sign audit checkpoints).',
  },
]

/** The rules as a file for Prometheus. JSON strings are YAML too. */
export function alertRulesFile(): string {
  const rules = alertRules.flatMap(({ alert, expr, for: wait, severity, summary, description }) => [
    `      - alert: ${alert}`,
    `        expr: ${JSON.stringify(expr)}`,
    `        for: ${wait}`,
    `        labels: { severity: ${severity} }`,
    '        annotations:',
    `          summary: ${JSON.stringify(summary)}`,
    `          description: ${JSON.stringify(description)}`,
  ])
  const head = [
    '# Generated by `npm run contracts` from scripts/monitoring/alert-rules.ts.',
    'groups:',
    '  - name: windlass',
    '    rules:',
  ]
  return `${[...head, ...rules].join('\n')}\n`
}
