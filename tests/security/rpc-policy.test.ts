import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { connect } from '@windlass/rpc/client'
import { parseKeys, RPC_SERVICES } from '@windlass/rpc/pair-keys'
import type { DeclaredRpc } from '@windlass/rpc/policy'
import { createServiceIdentity, type ServiceIdentity } from '@windlass/rpc/service-identity'
import { type Service, type System, startSystem } from '@windlass/testkit/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rpcs } from '../../scripts/rpc-table.ts'

const undo: (() => unknown)[] = []
let system: System

beforeAll(async () => {
  system = await startSystem({ workers: 0, defer: (one) => undo.push(one) })
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

const settingOf = (service: string, name: string): string =>
  system.of(service as Service)[0]?.program.env[name] ?? ''

/** A service as whoever has stolen its keys can be it. */
function robbed(service: string): ServiceIdentity {
  return createServiceIdentity(
    parseKeys(service, settingOf(service, 'SVC_RPC__KEYS').split(',')),
    service,
  )
}

const ownerOf = (path: string) => /^\/windlass\.(\w+)\./.exec(path)?.[1] ?? ''

/** An rpc called with a request of these bytes, and what its service says to it. */
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

const NOT_FOR_IT = /may not call|no business with/
const NOT_FOR_HIM = /no genuine statement/
const speechless = (serviceIdentity: ServiceIdentity): ServiceIdentity => ({
  ...serviceIdentity,
  signCaller: () => '',
})
const saying = (serviceIdentity: ServiceIdentity, statement: string): ServiceIdentity => ({
  ...serviceIdentity,
  signCaller: () => statement,
})

test.each(rpcs.map((rpc): [string, DeclaredRpc] => [rpc.path, rpc]))(
  '%s is for those services alone that are declared, on behalf of whom they vouch for',
  async (path, { services, requiresCaller }) => {
    for (const service of RPC_SERVICES.filter((name) => name !== ownerOf(path))) {
      const serviceIdentity = robbed(service)
      const said = await call(path, serviceIdentity)
      if (!services.includes(service)) {
        expect(said, service).toMatch(NOT_FOR_IT)
        continue
      }
      expect(said, service).not.toMatch(NOT_FOR_IT)
      expect(said, service).not.toMatch(NOT_FOR_HIM)
      const silent = await call(path, speechless(serviceIdentity))
      if (requiresCaller) expect(silent, service).toMatch(NOT_FOR_HIM)
      else expect(silent, service).not.toMatch(NOT_FOR_HIM)
      for (const statement of [
        'root',
        serviceIdentity.signCaller(ANONYMOUS_CALLER, ownerOf(path), `${path}s`),
      ])
        expect(await call(path, saying(serviceIdentity, statement)), service).toMatch(NOT_FOR_HIM)
    }
  },
)

const someoneElses = () => [
  '',
  'root',
  robbed('gateway').signCaller(ANONYMOUS_CALLER, 'catalog', ExecutionsService.submit.path),
  robbed('gateway').signCaller(ANONYMOUS_CALLER, 'executions', AuditService.record.path),
]

test('what is gathered into one call has a statement for each', async () => {
  const gateway = robbed('gateway')
  for (const caller of someoneElses()) {
    const entry = { caller, request_id: '', action: 'role.create', object: 'role:x' }
    const records = [{ ...entry, outcome: 'done', detail_json: '{}' }]
    const record = AuditService.record.requestSerialize({ records })
    const said = await call(AuditService.record.path, gateway, Buffer.from(record))
    expect(said).toMatch(NOT_FOR_ENTRY)
  }
  const log = await fetch(`${system.url}/admin/audit`)
  expect(await log.json()).toMatchObject({ total: 0 })
})

const NOT_FOR_ENTRY = /without a genuine statement/
