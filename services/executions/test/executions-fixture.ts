import { randomBytes } from 'node:crypto'
import {
  type Command,
  ExecutionsService,
  type NewEvent,
  type Writer,
} from '@windlass/proto/windlass/executions/v1/executions'
import { newId } from '@windlass/runtime/ids'
import type { Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase, openTestDb, testUrl } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { clientOf, signedCaller } from '@windlass/testkit/service-identity'
import { onTestFinished } from 'vitest'
import { start } from '../src/server.ts'

export type Client = Awaited<ReturnType<typeof setup>>['client']

/** One or more replicas of the service on an empty database, and a client of all of them. */
export async function setup({ replicas = 1, env = {} as Record<string, string> } = {}) {
  const url = await freshDatabase('executions', new URL('../migrations/', import.meta.url))
  const settings = {
    SVC_POSTGRES__URL: url,
    SVC_NATS__URL: testUrl('TEST_NATS_URL'),
    SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'an execution token secret of the tests',
    ...env,
  }
  const ports: number[] = []
  for (let i = 0; i < replicas; i++)
    ports.push((await startService(start, settings)).ports.grpc ?? 0)
  const client = clientsOf(ports)
  const db = openTestDb(url, 'executions')
  onTestFinished(() => client.close())
  return { client, db, url, ports, another: () => startService(start, settings) }
}

/** Keeps a transaction open: the server ends one that is idle for some seconds. Returns a function that stops this. */
export function keepActive(tx: Tx): () => void {
  const timer = setInterval(() => void tx.rows(sql`select`).catch(() => {}), 1_000)
  const stop = () => clearInterval(timer)
  onTestFinished(stop)
  return stop
}

/** One client for all rpcs: calls as the gateway, or as a dispatcher where only that is allowed. */
export function clientsOf(ports: readonly number[]) {
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  const gateway = clientOf(ExecutionsService, addresses)
  const dispatcher = clientOf(ExecutionsService, addresses, { as: 'dispatcher' })
  const { lease, awaitWork, requeue, listReady } = dispatcher
  const close = () => {
    gateway.close()
    dispatcher.close()
  }
  return { ...gateway, lease, awaitWork, requeue, listReady, close }
}

/** A different requirement for each test, so that tests do not lease each other's executions. */
const requirement = (label = randomBytes(4).toString('hex')) => ({
  packages: [],
  affinity: { label },
  runner: '',
})

export const create = (fields: Partial<CreateValue> = {}, execution_id = newId()): Command => ({
  execution_id,
  with_log: false,
  body: {
    $case: 'create',
    value: {
      workflow_id: newId(),
      workflow_namespace: 'default',
      workflow_name: 'report',
      workflow_version: 1,
      input_json: '{"n":9007199254740993}',
      requirement: requirement('any'),
      preferred_worker: '',
      caller: signedCaller(),
      schedule_id: '',
      request_hash: '',
      reply_to: '',
      depth: 0,
      parent_id: '',
      cancel_with_parent: false,
      tags: {},
      ...fields,
    },
  },
})
type CreateValue = Extract<NonNullable<Command['body']>, { $case: 'create' }>['value']

/** Submits one command. Returns the execution, or throws the refusal. */
export async function submit(client: Client, command: Command) {
  const { results } = await client.submit({ commands: [command] })
  const [result] = results
  if (result?.body?.$case === 'execution') return { ...result.body.value, log: result.log }
  throw Object.assign(new Error(JSON.stringify(result?.body?.value)), result?.body?.value)
}

export const run = async (client: Client, fields: Partial<CreateValue> = {}) =>
  submit(client, create(fields))

export const event = (type: string, fields: Partial<NewEvent> = {}): NewEvent => ({
  event_id: randomBytes(8).toString('hex'),
  type,
  source_id: 'report',
  name: 'report',
  value_json: 'null',
  time: '2026-01-02T03:04:05.000006',
  ...fields,
})

/** A worker that leases, claims and reports over the rpcs of the service. */
export function worker(
  client: Client,
  worker_name = `w-${randomBytes(4).toString('hex')}`,
  session_id = `session of ${worker_name}`,
) {
  const writer = (claim_generation?: number): Writer => ({
    worker_name,
    session_id,
    claim_generation,
  })
  const command = (execution_id: string, body: Command['body'], with_log = false) =>
    submit(client, { execution_id, with_log, body })
  return {
    worker_name,
    writer,
    async lease({
      capacity = 0,
      connection = 1,
      limit = 10,
      of = [] as string[],
      facts = {},
      claims_by_delivery = false,
      continues_cancelled = false,
    } = {}) {
      const requirement_ids =
        of.length > 0
          ? of
          : (await client.listReady({ known_ids: [] })).requirements.map((r) => r.requirement_id)
      return client.lease({
        limit,
        offers: [
          {
            worker_name,
            session_id,
            connection_generation: connection,
            capacity,
            requirement_ids,
            facts,
            used: 0,
            claims_by_delivery,
            continues_cancelled,
          },
        ],
      })
    },
    claim: (id: string, awaits_confirmation = false) =>
      command(id, { $case: 'claim', value: { writer: writer(), awaits_confirmation } }, true),
    confirmClaim: (id: string, generation: number, pending_bytes = 0) =>
      command(id, { $case: 'confirm_claim', value: { writer: writer(generation), pending_bytes } }),
    report: (id: string, state: string, { generation, events = [], output_json }: Reported = {}) =>
      command(id, {
        $case: 'checkpoint',
        value: { writer: writer(generation), state, events, output_json },
      }),
    release: (id: string, generation?: number, unclaimed_only = false, crashed = false) =>
      command(id, {
        $case: 'release',
        value: { writer: writer(generation), unclaimed_only, crashed },
      }),
    verify: (id: string, generation?: number) =>
      command(id, { $case: 'verify', value: { writer: writer(generation) } }),
  }
}

interface Reported {
  generation?: number
  events?: NewEvent[]
  output_json?: string
}

export const cancel = (client: Client, execution_id: string, request_id?: string) =>
  submit(client, {
    execution_id,
    with_log: true,
    body: { $case: 'cancel', value: { request_id } },
  })

export const resume = (
  client: Client,
  execution_id: string,
  body_json: string,
  request_id?: string,
) =>
  submit(client, {
    execution_id,
    with_log: false,
    body: { $case: 'resume', value: { body_json, request_id, target: undefined } },
  })

export async function get(client: Client, execution_id: string) {
  const { executions } = await client.get({ execution_ids: [execution_id] })
  const [execution] = executions
  if (!execution) throw new Error(`no execution ${execution_id}`)
  return execution
}
