import { counter, gauge, histogram, observedCounter } from './instruments.ts'

/** Metrics of every service process. */
export const eventLoopDelay = gauge('windlass_event_loop_delay_seconds', {
  help: 'Delay of the event loop since the last collection, measured each 100 ms, or each second while the process is idle.',
  labels: ['quantile'],
})
export const eventLoopActive = observedCounter('windlass_event_loop_active_seconds_total', {
  help: 'Time in which the event loop was busy; its rate is the utilization of the thread.',
})
export const gcDuration = histogram('windlass_gc_duration_seconds', {
  help: 'Pauses of the garbage collector.',
  labels: ['kind'],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
})
export const memory = gauge('windlass_memory_bytes', {
  help: 'Memory of the process: resident, and of the heap.',
  labels: ['kind'],
})
export const cpu = observedCounter('windlass_cpu_seconds_total', {
  help: 'Processor time of the process.',
  labels: ['mode'],
})
export const startTime = gauge('windlass_start_time_seconds', {
  help: 'Time at which the process started, in seconds since 1970.',
})
export const dependencyFailures = observedCounter('windlass_dependency_failures_total', {
  help: 'Calls that a dependency did not answer in time, by kind: timeout, unresponsive, unavailable.',
  labels: ['dependency', 'kind'],
})
export const loopRounds = counter('windlass_loop_rounds_total', {
  help: 'Rounds of background loops, by outcome: ok, failed.',
  labels: ['loop', 'outcome'],
})
export const poolConnections = gauge('windlass_postgres_connections', {
  help: 'Connections to PostgreSQL by state: idle, busy.',
  labels: ['state'],
})
export const poolWaiting = gauge('windlass_postgres_waiting', {
  help: 'Statements and transactions that wait for a connection to PostgreSQL.',
})
export const certificateExpiry = gauge('windlass_certificate_expiry_seconds', {
  help: 'Time at which the certificate of a listener, or the client certificate towards a store, expires, in seconds since 1970.',
  labels: ['listener'],
  merge: 'last',
})
export const problems = gauge('windlass_problems', {
  help: '1 while the process has a problem that an operator must end (docs/operations.md), else 0.',
  labels: ['problem'],
})
export const skewedPeers = gauge('windlass_version_skew_connections', {
  help: 'Connections to or from processes whose release is more than one minor version away, by their service.',
  labels: ['peer'],
})
export const clockOffset = gauge('windlass_clock_offset_seconds', {
  help: 'Clock of the process minus that of PostgreSQL, at the last check.',
  merge: 'last',
})
export const spansExported = counter('windlass_spans_exported_total', {
  help: 'Spans sent to the receiver of traces, by outcome: ok, failed (dropped).',
  labels: ['outcome'],
})
export const outboxEvents = gauge('windlass_outbox_events', {
  help: 'Events in the outbox that the relay has not published yet; each replica reports all of them.',
})
