import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { connect } from '@windlass/rpc/client'
import { parseKeys, RPC_SERVICES } from '@windlass/rpc/pair-keys'
import type { DeclaredRpc } from '@windlass/rpc/policy'
import { createServiceIdentity, type ServiceIdentity } from '@windlass/rpc/service-identity'
import { type System, startSystem } from '@windlass/testkit/system'
import type { Service } from '@windlass/testkit/system-processes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rpcs } from '../../scripts/rpc-table.ts'

const teardown: (() => unknown)[] = []
let system: System

beforeAll(async () => {
  system = await startSystem({ workers: 0, defer: (one) => teardown.push(one) })
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const settingOf = (service: string, name: string): string =>
  system.of(service as Service)[0]?.program.env[name] ?? ''

/** The identity of a service, from its keys: what an attacker who has stolen them can use. */
function stolenIdentity(service: string): ServiceIdentity {
  return createServiceIdentity(
    parseKeys(service, settingOf(service, 'SVC_RPC__KEYS').split(',')),
    service,
  )
}

const ownerOf = (path: string) => /^\/windlass\.(\w+)\./.exec(path)?.[1] ?? ''

/** Calls an rpc with these request bytes. Returns 'answered' or the error message. */
async function call(
  path: string,
  serviceIdentity: ServiceIdentity,
  bytes = Buffer.alloc(0),
): Promise<string> {
  const owner = ownerOf(path)
  const plain = (given: Buffer) => given
  const definition = {
    rpc: {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: plain,
      requestDeserialize: plain,
      responseSerialize: plain,
      responseDeserialize: plain,
    },
  } as const
  const client = connect(
    definition,
    [`127.0.0.1:${settingOf(owner, 'SVC_LISTEN__PORT')}`],
    serviceIdentity,
  )
  try {
    await client.rpc(bytes, { caller: ANONYMOUS_CALLER, timeoutMs: 10_000 })
    return 'answered'
  } catch (error) {
    return (error as Error).message
  } finally {
    client.close()
  }
}

const SERVICE_DENIED = /may not call|no key for calls to/
const CALLER_DENIED = /no valid on-behalf-of token/
const withoutCaller = (serviceIdentity: ServiceIdentity): ServiceIdentity => ({
  ...serviceIdentity,
  signCaller: () => '',
})
const withCaller = (serviceIdentity: ServiceIdentity, statement: string): ServiceIdentity => ({
  ...serviceIdentity,
  signCaller: () => statement,
})

test.each(rpcs.map((rpc): [string, DeclaredRpc] => [rpc.path, rpc]))(
  '%s: admits only declared services and signed callers',
  async (path, { services, requiresCaller }) => {
    for (const service of RPC_SERVICES.filter((name) => name !== ownerOf(path))) {
      const serviceIdentity = stolenIdentity(service)
      const result = await call(path, serviceIdentity)
      if (!services.includes(service)) {
        expect(result, service).toMatch(SERVICE_DENIED)
        continue
      }
      expect(result, service).not.toMatch(SERVICE_DENIED)
      expect(result, service).not.toMatch(CALLER_DENIED)
      const silent = await call(path, withoutCaller(serviceIdentity))
      if (requiresCaller) expect(silent, service).toMatch(CALLER_DENIED)
      else expect(silent, service).not.toMatch(CALLER_DENIED)
      for (const statement of [
        'root',
        serviceIdentity.signCaller(ANONYMOUS_CALLER, ownerOf(path), `${path}s`),
      ])
        expect(await call(path, withCaller(serviceIdentity, statement)), service).toMatch(
          CALLER_DENIED,
        )
    }
  },
)

const foreignCallers = () => [
  '',
  'root',
  stolenIdentity('gateway').signCaller(ANONYMOUS_CALLER, 'catalog', ExecutionsService.submit.path),
  stolenIdentity('gateway').signCaller(ANONYMOUS_CALLER, 'executions', AuditService.record.path),
]

test('batched audit records: each record requires its own signed caller', async () => {
  const gateway = stolenIdentity('gateway')
  const countEntries = async () => {
    const log = await fetch(`${system.url}/admin/audit`)
    return ((await log.json()) as { total: number }).total
  }
  // The uses of secrets that the tests above requested are recorded.
  const before = await countEntries()
  for (const caller of foreignCallers()) {
    const entry = { caller, request_id: '', action: 'role.create', object: 'role:x' }
    const records = [{ ...entry, outcome: 'done', detail_json: '{}' }]
    const record = AuditService.record.requestSerialize({ records })
    const result = await call(AuditService.record.path, gateway, Buffer.from(record))
    expect(result).toMatch(RECORD_DENIED)
  }
  expect(await countEntries()).toBe(before)
})

const RECORD_DENIED = /without a genuine statement/
