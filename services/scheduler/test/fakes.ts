import { CatalogService, type Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import {
  type Command,
  type Execution,
  ExecutionsService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { PrincipalsService } from '@windlass/proto/windlass/identity/v1/principals'
import type { Handlers } from '@windlass/rpc/call'
import { serviceNameOf } from '@windlass/rpc/policy'
import { RpcServer } from '@windlass/rpc/server'
import { Fault, notFound, unavailable } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { createLog } from '@windlass/runtime/process/log'
import { allowAll, testIdentity } from '@windlass/testkit/service-identity'
import { onTestFinished } from 'vitest'

const LOOPBACK = { host: '127.0.0.1', port: 0 }

async function startFake<S extends Parameters<RpcServer['serve']>[0]>(
  service: S,
  handlers: Partial<Handlers<S>>,
): Promise<string> {
  const rpc = new RpcServer(createLog('fake', 'silent'), testIdentity(serviceNameOf(service)))
  rpc.serve(service, handlers as Handlers<S>, allowAll(service))
  const port = await rpc.listen(LOOPBACK, [])
  onTestFinished(() => rpc.stop())
  return `127.0.0.1:${port}`
}

/** A catalog whose workflows the test adds and removes. */
export async function fakeCatalog() {
  const workflows = new Map<string, Workflow>()
  const script = { down: false, lists: 0 }
  const address = await startFake(CatalogService, {
    async resolve({ namespace, name }) {
      if (script.down) throw unavailable('down')
      const workflow = workflows.get(`${namespace}/${name}`)
      if (!workflow) throw notFound('Workflow', `${namespace}/${name}`)
      return workflow
    },
    async list() {
      script.lists++
      if (script.down) throw unavailable('down')
      return { workflows: [...workflows.values()] }
    },
  })
  return {
    address,
    script,
    remove: (namespace: string, name: string) => workflows.delete(`${namespace}/${name}`),
    /** Makes an earlier version the latest one, as after the deletion of a later one. */
    restore: (workflow: Workflow) =>
      workflows.set(`${workflow.namespace}/${workflow.name}`, workflow),
    put(namespace: string, name: string, schedule?: object, created_by = 'uploader'): Workflow {
      const before = workflows.get(`${namespace}/${name}`)
      const workflow: Workflow = {
        id: newId(),
        namespace,
        name,
        version: (before?.version ?? 0) + 1,
        source: Buffer.alloc(0),
        imports: [],
        metadata_json: JSON.stringify({ task_names: [], schedule: schedule ?? null }),
        requests_json: 'null',
        affinity_json: 'null',
        requirement: undefined,
        input_schema_json: '',
        created_at: new Date(),
        created_by,
      }
      workflows.set(`${namespace}/${name}`, workflow)
      return workflow
    },
  }
}

/** Executions in memory: records submitted commands; the test sets their states. */
export async function fakeExecutions() {
  const created = new Map<string, Execution>()
  const submitted: Command[] = []
  /**
   * `reply_lost`: commands are applied, and the call fails. `stopped`: commands wait as in the socket of a process that
   * is stopped, until `continueStopped`.
   */
  const script = {
    mode: 'healthy' as 'healthy' | 'down' | 'reply_lost' | 'refusing' | 'stopped',
    gets: 0,
  }
  const waiting: { continue: () => void; applied: Promise<void> }[] = []
  const address = await startFake(ExecutionsService, {
    async submit({ commands }) {
      if (script.mode === 'down') throw unavailable('down')
      submitted.push(...commands)
      if (script.mode === 'stopped') {
        const [isContinued, isApplied] = [gate(), gate()]
        waiting.push({ continue: isContinued.open, applied: isApplied.opened })
        await isContinued.opened
        const results = commands.map((command) => answer(created, command))
        isApplied.open()
        return { results }
      }
      if (script.mode === 'refusing') {
        const refusal = { kind: 'too_large', message: 'the input is too large', details_json: '' }
        return {
          results: commands.map(() => ({ body: { $case: 'refusal', value: refusal }, log: [] })),
        }
      }
      const rows = commands.map((command) => applyCommand(created, command))
      if (script.mode === 'reply_lost') throw new Fault('unavailable', 'the answer was lost')
      return { results: rows.map((value) => ({ body: { $case: 'execution', value }, log: [] })) }
    },
    async get({ execution_ids }) {
      script.gets++
      if (script.mode === 'down') throw unavailable('down')
      return { executions: execution_ids.flatMap((id) => created.get(id) ?? []) }
    },
  })
  /** Applies the commands that have waited since the process was stopped. */
  async function continueStopped() {
    script.mode = 'healthy'
    for (const one of waiting) one.continue()
    await Promise.all(waiting.map(({ applied }) => applied))
  }
  return { address, script, created, submitted, waiting, continueStopped }
}

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Applies a command, or refuses a create after its time limit, as executions does. */
function answer(created: Map<string, Execution>, command: Command) {
  const { execution_id, body } = command
  const notAfter = body?.$case === 'create' ? body.value.not_after : undefined
  if (!created.has(execution_id) && notAfter && notAfter < new Date()) {
    const value = { kind: 'unavailable', message: 'too late', details_json: '' }
    return { body: { $case: 'refusal' as const, value }, log: [] }
  }
  return { body: { $case: 'execution' as const, value: applyCommand(created, command) }, log: [] }
}

function applyCommand(created: Map<string, Execution>, { execution_id, body }: Command): Execution {
  const known = created.get(execution_id)
  if (known && body?.$case === 'cancel') known.state = 'CANCELLING'
  if (known) return known
  if (body?.$case !== 'create') throw new Error('the fake accepts only create and cancel')
  const { workflow_id, workflow_namespace, workflow_name, workflow_version, input_json } =
    body.value
  const execution: Execution = {
    execution_id,
    workflow_id,
    workflow_namespace,
    workflow_name,
    workflow_version,
    input_json,
    state: 'SCHEDULED',
    worker_name: '',
    claim_generation: 0,
    last_seq: 1,
    created_at: new Date(),
    updated_at: new Date(),
    worker_session: '',
  }
  created.set(execution_id, execution)
  return execution
}

/** Accounts by `subject@issuer`, which the test changes. */
export async function fakePrincipals() {
  const accounts = new Map<string, { enabled: boolean; permissions: string[] }>()
  const script = { down: false, beforeResolve: async () => {} }
  const address = await startFake(PrincipalsService, {
    async resolve({ subject, external_issuer }) {
      await script.beforeResolve()
      if (script.down) throw unavailable('down')
      const account = accounts.get(`${subject}@${external_issuer}`)
      if (!account) throw notFound('Principal', subject)
      const { enabled, permissions } = account
      const type = 'service_account'
      const principal = { id: newId(), subject, external_issuer, type, enabled, roles: [] }
      return { principal, permissions }
    },
  })
  return { address, script, accounts }
}
