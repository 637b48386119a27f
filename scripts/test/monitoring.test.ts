import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { declaredMetrics } from '../metrics-table.ts'
import { alertRules } from '../monitoring/alert-rules.ts'
import { dashboards } from '../monitoring/panels.ts'
import { workerMetrics } from '../worker-metrics.ts'

const declared = new Map(declaredMetrics.map((metric) => [metric.name, metric]))

/** Labels that Prometheus adds, and the one that each process adds. */
const ADDED_LABELS = ['component', 'instance', 'job']

/** Answers what an expression refers to that does not exist: metrics, and labels of none of its metrics. */
function unknownIn(expr: string, texts: string[] = []): string[] {
  const names = [...expr.matchAll(/\bwindlass_\w+/g)].map(([name]) => name)
  const metrics = names.map((name) => {
    const base = declared.get(name.replace(/_(bucket|sum|count)$/, ''))
    if (name.endsWith('_bucket') || !declared.has(name))
      return base?.kind === 'histogram' ? { ...base, labels: [...base.labels, 'le'] } : undefined
    return declared.get(name)
  })
  const known = new Set([...ADDED_LABELS, ...metrics.flatMap((metric) => metric?.labels ?? [])])
  const labels = [
    ...[...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',')),
    ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) =>
      [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    ),
    ...texts.flatMap((text) =>
      [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label),
    ),
  ].map((label) => label.trim())
  return [
    ...names.filter((_, i) => metrics[i] === undefined),
    ...labels.filter((label) => !known.has(label)),
  ]
}

test.each([
  ['rate(windlass_absent_total[5m])', ['windlass_absent_total']],
  ['sum by (colour) (windlass_workers)', ['colour']],
  ['windlass_workers{colour="red"}', ['colour']],
  ['rate(windlass_workers_bucket[5m])', ['windlass_workers_bucket']],
  ['sum by (state) (windlass_workers)', []],
])('the check itself: %s names %j', (expr, unknown) => {
  expect(unknownIn(expr)).toEqual(unknown)
})

test.each(
  dashboards.flatMap(({ title, panels }) =>
    panels.map((panel) => ({ dashboard: title, ...panel })),
  ),
)('$dashboard, $title: its queries use declared metrics and labels', ({ queries }) => {
  for (const [expr, legend] of queries) expect(unknownIn(expr, [legend]), expr).toEqual([])
})

test.each(alertRules)(
  '$alert: its expression and texts use declared metrics and labels',
  (rule) => {
    expect(unknownIn(rule.expr, [rule.summary, rule.description])).toEqual([])
  },
)

test('metrics of the worker: those that the tests of the SDK expect', () => {
  const file = new URL('../../sdk/python/tests/test_worker_health.py', import.meta.url)
  const [, builtIn = ''] = /BUILT_IN = \{(.*?)\}/s.exec(readFileSync(file, 'utf8')) ?? []
  const names = [...builtIn.matchAll(/"(\w+)"/g)].map(([, name]) => `windlass_worker_${name}`)
  const documented = Object.values(workerMetrics).map(({ declaration }) => declaration.name)
  expect(documented.sort()).toEqual([...names, 'windlass_worker_executions_total'].sort())
})

test('each declared metric: shown by a panel or used by a rule, except those listed here', () => {
  const used = [
    ...dashboards.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries)),
    ...alertRules.map(({ expr }) => [expr]),
  ].join(' ')
  const unused = [...declared.keys()].filter((name) => !used.includes(name))
  expect(unused.sort()).toEqual([
    'windlass_clock_offset_seconds',
    'windlass_gc_duration_seconds',
    'windlass_http_open_requests',
    'windlass_log_partitions',
    'windlass_mcp_tool_calls_total',
    'windlass_mcp_tool_duration_seconds',
    'windlass_spans_exported_total',
    'windlass_start_time_seconds',
    'windlass_version_skew_connections',
    'windlass_worker_cpu_percent',
    'windlass_worker_executions_per_minute',
    'windlass_worker_load_avg_1m',
    'windlass_worker_loop_lag_seconds',
    'windlass_worker_memory_available_bytes',
    'windlass_worker_running_executions',
    'windlass_worker_slots_free',
    'windlass_worker_startup_overhead_seconds',
    'windlass_worker_warm_modules',
  ])
})

const promtool = hasPromtool()

test.skipIf(!promtool)('promtool, skipped where it is not installed: accepts the rules', () => {
  const rules = new URL('../../deploy/monitoring/rules.yml', import.meta.url).pathname
  expect(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })).toContain(
    `SUCCESS: ${alertRules.length} rules found`,
  )
})

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
