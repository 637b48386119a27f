import { ExecutionTokens } from '@windlass/domain/execution-tokens'
import { Fault } from '@windlass/runtime/faults'
import { ID } from './assert-response.ts'
import { type FakeServices, startGateway, workflow } from './gateway-fixture.ts'

export const SECRET = 'an execution token secret of the tests'
export const OTHER = ID.replace('0', '1')
const tokens = new ExecutionTokens(SECRET, 3_600)
export const held = {
  execution_id: ID,
  worker_name: 'w1',
  claim_generation: 7,
  created_by: 'ada',
  created_by_issuer: 'https://issuer',
  depth: 0,
}
export const token = tokens.mint(held)
export const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

const metadata = { task_names: ['pay', 'look', 'idle'], auth_exempt_tasks: ['idle'] }
const RIGHTS = [
  'workflow:default:child:run',
  'workflow:default:parent:task:pay:execute',
  'workflow:default:child:task:*:execute',
  'workflow:*:*:read',
]

export interface State {
  state?: string
  worker_session?: string
  worker_name?: string
  claim_generation?: number
  isEnabled?: boolean
  isKnown?: boolean
  isOn?: boolean
  starter?: { subject: string; issuer: string } | undefined
}

/** An execution of `default/parent`, claimed by w1 and started by `ada`, which may run `child` but not every task. */
export async function setup(given: State = {}, scripts: FakeServices = {}) {
  const { isEnabled = true, isKnown = true, isOn = true, ...changes } = given
  const made = await startGateway(
    {
      ...scripts,
      principals: {
        async resolve({ subject, external_issuer }) {
          if (!isKnown || subject !== 'ada' || external_issuer !== 'https://issuer')
            throw new Fault('not_found', 'Principal not found')
          const principal = {
            ...{ id: ID, subject, external_issuer, type: 'user', roles: ['r'] },
            ...{ display_name: undefined, enabled: isEnabled },
          }
          return { principal, permissions: RIGHTS }
        },
      },
      catalog: {
        async resolve({ namespace, name }) {
          return workflow({ namespace, name, metadata_json: JSON.stringify(metadata) })
        },
        getById: async ({ id }) => workflow({ id, metadata_json: JSON.stringify(metadata) }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: String(isOn) },
  )
  made.executions.rows.set(ID, {
    log: [],
    execution: {
      execution_id: ID,
      workflow_id: ID,
      workflow_namespace: 'default',
      workflow_name: 'parent',
      workflow_version: 1,
      state: 'RUNNING',
      worker_name: 'w1',
      worker_session: 's',
      claim_generation: 7,
      input_json: 'null',
      last_seq: 0,
      created_at: undefined,
      updated_at: undefined,
      starter: { subject: 'ada', issuer: 'https://issuer' },
      ...changes,
    },
  })
  const ask = async (path: string, text = token, body?: unknown, method = 'POST') => {
    const json: Record<string, string> =
      body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await made.call(method, path, {
      headers: { ...bearer(text), ...json },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }
  return { ...made, ask }
}

export const QUESTION = `/executions/${ID}/authorize/pay`
export const NESTED = '/workflows/default/child/run/async'
