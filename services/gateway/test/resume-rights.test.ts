import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { RUN } from './assert-response.ts'
import { startGateway, workflow } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const headers = { authorization: `Bearer ${KEY}` }

/** Starts an execution of version 1, which requires `v1:run`; the newest version is 2 and requires `v2:run`. */
async function setup(resume_version: string) {
  const state = { permissions: ['*'], deleted: [] as number[] }
  const made = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal: serviceAccount(), permissions: state.permissions },
          expires_at: undefined,
        }),
      },
      catalog: {
        async resolve({ namespace, name, version }) {
          const found = version || 2
          if (state.deleted.includes(found)) throw new Fault('not_found', 'Workflow not found')
          const metadata_json = `{"required_permissions":["v${found}:run"]}`
          return workflow({ namespace, name, version: found, metadata_json })
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_EXECUTIONS__RESUME_VERSION: resume_version },
  )
  expect((await made.call('POST', `${RUN}?version=1`, { headers })).status).toBe(200)
  const path = `/workflows/default/hello/resume/${made.executions.last}/async`
  const resume = async (permissions: string[]) => {
    state.permissions = permissions
    // Permissions of a key are cached until the next invalidation, so each resume uses a new key.
    const key = `wk_${String(keys++).padStart(16, '1')}.${'A'.repeat(43)}`
    const response = await made.call('POST', path, { headers: { authorization: `Bearer ${key}` } })
    return [response.status, await response.json()]
  }
  let keys = 0
  return { state, resume }
}

const denied = (...missing_permissions: string[]) => [
  403,
  { detail: { message: 'Authorization denied', missing_permissions } },
]
const OWN = 'workflow:default:hello:*'

test.each([
  ['newest', 'v2:run', 'v1:run'],
  ['pinned', 'v1:run', 'v2:run'],
])(
  'a resume with the %s version: needs the permissions of that version',
  async (version, needed, other) => {
    const { resume } = await setup(version)
    expect(await resume([OWN, other])).toEqual(denied(needed))
    expect(await resume([OWN, needed])).toEqual([
      200,
      expect.objectContaining({ state: 'RESUMING' }),
    ])
  },
)

test('a resume whose version was deleted: needs the permission to run', async () => {
  const { state, resume } = await setup('newest')
  state.deleted = [1, 2]
  expect(await resume(['workflow:default:hello:read'])).toEqual(
    denied('workflow:default:hello:run'),
  )
  expect(await resume(['workflow:default:hello:run'])).toEqual([
    200,
    expect.objectContaining({ state: 'RESUMING' }),
  ])
})
