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
import { announcer } from './announce.ts'
import { openDoor } from './change.ts'
import { listen } from './events.ts'
import { approvalHandlers } from './handlers/approvals.ts'
import { handlers } from './handlers/index.ts'
import { queueHandlers } from './handlers/queue.ts'
import { relayFinished } from './loops/relay.ts'
import { expireDue, remindCancelling } from './loops/sweep.ts'
import { Standing } from './standing.ts'
import * as keys from './store/keys.ts'
import * as totals from './store/totals.ts'

const SWEEP_MS = 1_000
const REMIND_MS = 5_000
const FORGET_MS = 60_000
const FORGET_BATCH = 1_000
/** The floor under the pokes: what was committed by a replica that died before it told anyone. */
const FLOOR_MS = 5_000
/** Many times what a flush takes: whoever has a row for longer hangs. */
const LOCK_MS = 2_000
/** Endings go out together: nobody who hears of them this way is in a hurry. */
const GATHER_MS = 100

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

  const every = (name: string, pauseMs: number, work: () => Promise<unknown>, gatherMs = 0) => {
    const running = loop({ name, pauseMs, log, wakeDelayMs: gatherMs }, work)
    teardown.add(name, () => running.stop())
    return running
  }
  const relay = every('relay', FLOOR_MS, () => relayFinished(db, bus), GATHER_MS)
  every('fold totals', FLOOR_MS, () => totals.fold(db))
  const standing = new Standing()
  const announce = announcer({ bus, standing, onFinished: relay.wake })
  const limits = {
    claimMs: executions.claim_timeout * 1_000,
    cancelMs: executions.cancel_timeout * 1_000,
    maxAttempts: executions.max_attempts,
  }
  const door = openDoor({ db, limits, standing, announce })
  teardown.add('door', () => door.drained())
  every('sweep', SWEEP_MS, () => expireDue(db, door, log))
  every('remind', REMIND_MS, () => remindCancelling(db, bus))
  every('forget keys', FORGET_MS, () => keys.forget(db, FORGET_BATCH))
  const deaf = listen(bus, db, door)
  teardown.add('events', deaf)

  const serviceIdentity = await openServiceIdentity(settings, 'executions', log)
  const rpc = new RpcServer(log, serviceIdentity)
  const tokens = await openExecutionTokens(settings)
  const executing = handlers({ db, bus, door, standing, serviceIdentity, tokens })
  rpc.serve(ExecutionsService, executing, access.executions)
  rpc.serve(ApprovalsService, approvalHandlers(db, door), access.approvals)
  rpc.serve(QueueService, queueHandlers(db), access.queue)
  const grpc = await rpc.listen(settings.listen, [() => db.run(sql`select 1`)])
  teardown.add('rpc', () => rpc.stop())
  teardown.add('waiting dispatchers', async () => standing.close())
  return { grpc }
}
