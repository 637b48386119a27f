import { openExecutionTokens } from '@windlass/domain/execution-tokens'
import { CapturedLinesService } from '@windlass/proto/windlass/executions/v1/captured_lines'
import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import { openService, type Service } from '@windlass/rpc/open-service'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import type { Settings } from '@windlass/runtime/config/settings'
import { openObjectStore } from '@windlass/runtime/object-store/open-object-store'
import type { Runtime } from '@windlass/runtime/process/main'
import * as access from './access.ts'
import type { Execution } from './domain/execution.ts'
import { ChangeSignals } from './engine/change-signals.ts'
import { LogPartitions } from './engine/log-partitions.ts'
import { LogSizes } from './engine/log-sizes.ts'
import { createNotifier } from './engine/notify.ts'
import { QueueQuota } from './engine/queue-quota.ts'
import { WaitingDispatchers } from './engine/waiters.ts'
import { createExecutionWriter } from './engine/writer.ts'
import { consumeEvents } from './events.ts'
import { approvalsHandlers } from './handlers/approvals-service.ts'
import { capturedLinesHandlers } from './handlers/captured-lines.ts'
import { executionsHandlers } from './handlers/executions-service.ts'
import { historyHandlers } from './handlers/history-service.ts'
import { queueHandlers } from './handlers/queue-service.ts'
import { cancelChildren, createOrphanSweep } from './loops/cancel-children.ts'
import { dropPartitions } from './loops/drop-partitions.ts'
import { followChanges } from './loops/follow-ends.ts'
import { relayTerminalEvents } from './loops/relay.ts'
import { createRetentionSweep, deleteRemains } from './loops/retention.ts'
import { expireOverdue, resendCancels } from './loops/sweep.ts'
import { wakeAwaiting } from './loops/wake.ts'
import { observePartitions, observeQueue } from './observe.ts'
import * as executions from './store/executions.ts'
import * as keys from './store/keys.ts'
import { readEvents, readGrowth } from './store/log-growth.ts'
import { readQueueUsage } from './store/queue-usage.ts'
import * as totals from './store/totals.ts'

const SWEEP_MS = 1_000
const CANCEL_RESEND_MS = 5_000
const KEY_CLEANUP_MS = 60_000
const KEY_CLEANUP_BATCH = 1_000
const PARTITIONS_POLL_MS = 15_000
/** Polling fallback for lost wake-ups, such as those of a replica that died after its commit. */
const POLL_INTERVAL_MS = 5_000
/** Many times the duration of a batch: a lock that is held longer belongs to a hung process. */
const LOCK_MS = 2_000
/** Terminal events are published in batches: their consumers do not need them sooner. */
const RELAY_DELAY_MS = 100

/** Builds the service, from its stores to its rpcs; teardown runs in reverse order. */
export async function start(settings: Settings, runtime: Runtime) {
  const { log, teardown } = runtime
  requireAuthSecrets(settings, { log, secrets: ['[svc.security].execution_token_secret'] })
  const service = await openService('executions', settings, runtime, {
    lockMs: LOCK_MS,
    plainScans: true,
  })
  const { db, rpc, startLoop, serviceIdentity } = service
  const reads = service.openReads()
  const bus = await service.openBus()

  const relay = startLoop('relay', POLL_INTERVAL_MS, () => relayTerminalEvents(db, bus), {
    wakeDelayMs: RELAY_DELAY_MS,
  })
  startLoop('fold totals', POLL_INTERVAL_MS, () => totals.fold(db))
  const waiters = new WaitingDispatchers()
  const onFinished = (finished: readonly Execution[]) => {
    // The other events are not published: the poll moves the cursor past them.
    if (finished.some(({ schedule_id }) => schedule_id)) relay.wake()
    const nested = finished.filter(({ parent_id }) => parent_id)
    if (nested.length > 0) wakeUps.onChanged(nested.map(({ execution_id }) => execution_id))
  }
  teardown.add('metrics', observeQueue(db, waiters))
  const onChildrenDue = (ids: readonly string[]) => cancels.onChanged(ids)
  const changeSignals = new ChangeSignals(bus)
  teardown.add('change signals', async () => changeSignals.stop())
  const onCommit = createNotifier({ bus, waiters, changeSignals, onFinished, onChildrenDue })
  const { claim_timeout, cancel_timeout, max_attempts } = settings.executions
  const limits = {
    claimMs: claim_timeout * 1_000,
    cancelMs: cancel_timeout * 1_000,
    maxAttempts: max_attempts,
  }
  const writer = createExecutionWriter({ db, limits, waiters, onCommit })
  teardown.add('writer', () => writer.whenIdle())
  const wakeUps = followChanges(service, 'wake', (ids) => wakeAwaiting(db, writer, ids))
  const cancels = followChanges(service, 'children', (ids) => cancelChildren(db, writer, ids))
  startLoop('sweep', SWEEP_MS, () => expireOverdue(db, writer, log))
  startLoop('resend cancels', CANCEL_RESEND_MS, () => resendCancels(db, bus, writer))
  startLoop('cancel orphans', POLL_INTERVAL_MS, createOrphanSweep(db, writer))
  startLoop('delete keys', KEY_CLEANUP_MS, () => keys.deleteExpired(db, KEY_CLEANUP_BATCH))
  const logPartitions = await startRetention(service, settings, runtime)
  const unsubscribe = consumeEvents(bus, db, writer)
  teardown.add('events', unsubscribe)

  const tokens = await openExecutionTokens(settings)
  const queueQuota = new QueueQuota({
    quotas: settings.quotas,
    read: () => readQueueUsage(db),
    exists: async (id) => (await executions.readUnlocked(db, [id])).length > 0,
  })
  const logSizes = new LogSizes({
    maxBytes: settings.executions.max_log_bytes,
    readGrowth: (id, after_seq) => readGrowth(db, id, after_seq),
    readEvents: (id, event_ids) => readEvents(db, id, event_ids),
  })
  const { claimMs } = limits
  const own = { db, reads, bus, writer, waiters, queueQuota, logSizes, logPartitions }
  const deps = { ...own, serviceIdentity, tokens, claimMs }
  rpc.serve(ExecutionsService, executionsHandlers(deps), access.executions)
  rpc.serve(ApprovalsService, approvalsHandlers(own), access.approvals)
  rpc.serve(QueueService, queueHandlers(db), access.queue)
  rpc.serve(HistoryService, historyHandlers(reads), access.history)
  rpc.serve(CapturedLinesService, capturedLinesHandlers(db), access.capturedLines)
  const grpc = await service.listen()
  teardown.add('waiting dispatchers', async () => waiters.close())
  return { grpc }
}

/** Starts the loops that delete data, and opens the archive if one is configured. Returns the partitions of new logs. */
async function startRetention(
  { db, startLoop }: Pick<Service, 'db' | 'startLoop'>,
  { retention, archive }: Settings,
  { log, teardown }: Runtime,
): Promise<LogPartitions> {
  const partitions = new LogPartitions({ db, rules: retention })
  teardown.add('metrics of partitions', observePartitions(partitions))
  startLoop('delete remains', KEY_CLEANUP_MS, () => deleteRemains(db))
  if (!retention.enabled) return partitions
  const objects = archive.url === '' ? undefined : await openObjectStore(archive)
  teardown.add('archive', () => objects?.close())
  const sweep = createRetentionSweep({ db, settings: retention, log, objects })
  startLoop('retention', retention.sweep_interval * 1_000, sweep)
  startLoop('log partitions', PARTITIONS_POLL_MS, () => partitions.refresh())
  startLoop('drop log partitions', retention.sweep_interval * 1_000, () =>
    dropPartitions({ db, rules: retention, log }),
  )
  return partitions
}
