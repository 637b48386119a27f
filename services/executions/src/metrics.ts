import { counter, gauge, histogram } from '@windlass/runtime/metrics/instruments'

const WAIT_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 3_600, 86_400]

export const queueDepth = gauge('windlass_queue_executions', {
  help: 'Executions in the ready queue by requirement (its id); _other: all beyond the longest 50. `affinity`: the labels that it asks of a worker, as key=value,key=value. Each replica reports the whole queue.',
  labels: ['requirement', 'affinity'],
})
export const queueAge = gauge('windlass_queue_oldest_seconds', {
  help: 'Age of the execution that has been in the ready queue for longest, by requirement. Each replica reports the whole queue.',
  labels: ['requirement'],
})
export const queueWait = histogram('windlass_execution_queue_seconds', {
  help: 'Time from the ready queue to the lease.',
  labels: ['workflow'],
  buckets: WAIT_S,
})
export const claimWait = histogram('windlass_execution_claim_seconds', {
  help: 'Time from the lease to the claim of the worker, which may be its first checkpoint.',
  labels: ['workflow'],
  buckets: WAIT_S,
})
export const runDuration = histogram('windlass_execution_run_seconds', {
  help: 'Time from the first claim to the end, of executions whose claim and end were applied by this replica; from the lease if the first checkpoint was the claim.',
  labels: ['workflow'],
  buckets: WAIT_S,
})
export const executionsCreated = counter('windlass_executions_created_total', {
  help: 'Executions created.',
  labels: ['workflow'],
})
export const executionsEnded = counter('windlass_executions_ended_total', {
  help: 'Executions that reached a terminal state.',
  labels: ['workflow', 'state'],
})
export const requeues = counter('windlass_execution_requeues_total', {
  help: 'Executions that went back to the ready queue from a worker.',
  labels: ['workflow'],
})
export const writerCommits = counter('windlass_writer_commits_total', {
  help: 'Commits of the execution writer by path: create, optimistic, pessimistic.',
  labels: ['path'],
})
export const writerBatch = histogram('windlass_writer_batch_commands', {
  help: 'Commands in a batch of the execution writer.',
  labels: ['path'],
  buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
})
export const writerDuration = histogram('windlass_writer_batch_seconds', {
  help: 'Time in which a batch of the execution writer was applied, commit included.',
  labels: ['path'],
})
export const writerConflicts = counter('windlass_writer_conflicts_total', {
  help: 'Rows that another process changed between the decision and the write; their commands are decided again under locks.',
})
export const relayLag = gauge('windlass_relay_lag_seconds', {
  help: 'Age of the oldest terminal event behind the cursor of the relay, which passes those that it does not publish every 5 s. Each replica reports the same.',
})
export const logPartitions = gauge('windlass_log_partitions', {
  help: 'Partitions of the log, and of captured lines, that are dropped when their logs have expired: those in use, kept, and created ahead. Each replica reports the same.',
})
export const waitingDispatchers = gauge('windlass_waiting_dispatchers', {
  help: 'Long polls for work that dispatchers keep open at this replica.',
})
