const READS = ['List', 'Get', 'GetMany', 'GetById', 'Find', 'Resolve', 'Explain', 'Log', 'History']

/** Rpcs, besides READS, that change nothing or whose repetition changes nothing more. */
export const REPEATABLE: ReadonlySet<string> = new Set([
  'windlass.identity.v1.Identity/CheckBootstrap',
  'windlass.identity.v1.Identity/CheckSession',
  'windlass.identity.v1.Roles/Simulate',
  'windlass.catalog.v1.Catalog/Analyze',
  'windlass.catalog.v1.Catalog/ListVersions',
  'windlass.catalog.v1.Catalog/Diff',
  'windlass.executions.v1.Executions/Submit',
  'windlass.executions.v1.Executions/Requeue',
  'windlass.executions.v1.Executions/ReserveKey',
  'windlass.executions.v1.Executions/ListReady',
  'windlass.executions.v1.Approvals/Request',
  'windlass.executions.v1.Queue/Loads',
  'windlass.dispatcher.v1.Dispatcher/Pong',
  'windlass.dispatcher.v1.Fleet/Pongs',
  'windlass.dispatcher.v1.Fleet/ReportPresence',
  'windlass.scheduler.v1.Scheduler/Next',
  'windlass.scheduler.v1.Scheduler/Forecast',
  'windlass.scheduler.v1.Scheduler/Reconcile',
])

/**
 * True if a call may be sent to a second replica although the first one may have received it. Lease and
 * AwaitWork are not repeatable: work that the first replica leased would be lost with its answer.
 */
export function isRepeatable(path: string): boolean {
  const name = path.slice(1)
  return REPEATABLE.has(name) || READS.includes(name.slice(name.lastIndexOf('/') + 1))
}
