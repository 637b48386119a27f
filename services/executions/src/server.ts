import { openExecutionTokens } from '@windlass/domain/execution-tokens'
import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { RpcServer } from '@windlass/rpc/server'
import { openServiceIdentity } from '@windlass/rpc/service-identity'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import type { Settings } from '@windlass/runtime/config/settings'
import { openBus } from '@windlass/runtime/nats/bus'
import { openDb } from '@windlass/runtime/postgres/db'
import { warnOfSharedRole } from '@windlass/runtime/postgres/service-role'
import { sql } from '@windlass/runtime/postgres/sql'
import { loop } from '@windlass/runtime/process/loop'
import type { Runtime } from '@windlass/runtime/process/main'
import * as access from './access.ts'
import { createNotifier } from './engine/notify.ts'
import { WaitingDispatchers } from './engine/waiters.ts'
import { createExecutionWriter } from './engine/writer.ts'
import { consumeEvents } from './events.ts'
import { approvalHandlers } from './handlers/approvals-service.ts'
import { executionsHandlers } from './handlers/executions-service.ts'
import { queueHandlers } from './handlers/queue-service.ts'
import { relayTerminalEvents } from './loops/relay.ts'
import { expireOverdue, resendCancels } from './loops/sweep.ts'
import * as keys from './store/keys.ts'
import * as totals from './store/totals.ts'

const SWEEP_MS = 1_000
const CANCEL_RESEND_MS = 5_000
const KEY_CLEANUP_MS = 60_000
const KEY_CLEANUP_BATCH = 1_000
/** The floor under the pokes: what was committed by a replica that died before it told anyone. */
const POLL_INTERVAL_MS = 5_000
/** Many times what a flush takes: whoever has a row for longer hangs. */
const LOCK_MS = 2_000
/** Endings go out together: nobody who hears of them this way is in a hurry. */
const RELAY_DELAY_MS = 100

/** Builds the service from the outside in; teardown takes it apart in the opposite order. */
export async function start(settings: Settings, { log, teardown }: Runtime) {
  requireAuthSecrets(settings, ['[svc.security].execution_token_secret'])
  const { postgres, nats, executions } = settings
  const maxConnections = postgres.max_connections
  const db = openDb(postgres.url, 'executions', { maxConnections, lockMs: LOCK_MS })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  const bus = await openBus(nats.url, log, nats.prefix)
  teardown.add('bus', () => bus.close())

  const startLoop = (
    name: string,
    pauseMs: number,
    work: () => Promise<unknown>,
    wakeDelayMs = 0,
  ) => {
    const running = loop({ name, pauseMs, log, wakeDelayMs }, work)
    teardown.add(name, () => running.stop())
    return running
  }
  const relay = startLoop(
    'relay',
    POLL_INTERVAL_MS,
    () => relayTerminalEvents(db, bus),
    RELAY_DELAY_MS,
  )
  startLoop('fold totals', POLL_INTERVAL_MS, () => totals.fold(db))
  const waiters = new WaitingDispatchers()
  const notify = createNotifier({ bus, waiters, onFinished: relay.wake })
  const limits = {
    claimMs: executions.claim_timeout * 1_000,
    cancelMs: executions.cancel_timeout * 1_000,
    maxAttempts: executions.max_attempts,
  }
  const writer = createExecutionWriter({ db, limits, waiters, onCommit: notify })
  teardown.add('writer', () => writer.whenIdle())
  startLoop('sweep', SWEEP_MS, () => expireOverdue(db, writer, log))
  startLoop('remind', CANCEL_RESEND_MS, () => resendCancels(db, bus))
  startLoop('forget keys', KEY_CLEANUP_MS, () => keys.deleteExpired(db, KEY_CLEANUP_BATCH))
  const unsubscribe = consumeEvents(bus, db, writer)
  teardown.add('events', unsubscribe)

  const serviceIdentity = await openServiceIdentity(settings, 'executions', log)
  const rpc = new RpcServer(log, serviceIdentity)
  const tokens = await openExecutionTokens(settings)
  const executing = executionsHandlers({
    db,
    bus,
    writer,
    waiters,
    serviceIdentity,
    tokens,
  })
  rpc.serve(ExecutionsService, executing, access.executions)
  rpc.serve(ApprovalsService, approvalHandlers(db, writer), access.approvals)
  rpc.serve(QueueService, queueHandlers(db), access.queue)
  const grpc = await rpc.listen(settings.listen, [() => db.run(sql`select 1`)])
  teardown.add('rpc', () => rpc.stop())
  teardown.add('waiting dispatchers', async () => waiters.close())
  return { grpc }
}
