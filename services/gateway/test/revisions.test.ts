import { preconditionFailed } from '@windlass/domain/revision'
import type { Precondition } from '@windlass/proto/windlass/access/v1/precondition'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const NEVER = { revisions: [], any: false, absent: false }

/** Throws unless the precondition is for the revision r1. */
function requireR1(what: string, precondition: Precondition | undefined): void {
  if (!precondition?.revisions.includes('r1')) throw preconditionFailed(what, precondition ?? NEVER)
}

async function setup() {
  const entry = { name: 'a', value_json: '1' }
  const entries = (what: string) => ({
    get: async () => ({ ...entry, revision: 'r1' }),
    list: async () => ({ names: ['a'], entries: [{ ...entry, revision: 'r1' }] }),
    put: async () => ({ entry: { ...entry, revision: 'r2' } }),
    async putIf({ precondition }: { precondition?: Precondition | undefined }) {
      requireR1(what, precondition)
      return { entry: { ...entry, revision: 'r2' } }
    },
  })
  const role = { name: 'a', permissions: [], built_in: false }
  return startGateway({
    secrets: entries('secret'),
    configs: entries('config'),
    roles: {
      get: async () => ({ ...role, revision: 'r1' }),
      list: async () => ({ roles: [{ ...role, revision: 'r1' }] }),
      update: async () => ({ ...role, revision: 'r2' }),
      async updateIf({ precondition }) {
        requireR1('role', precondition)
        return { ...role, revision: 'r2' }
      },
    },
  })
}

const entry = { name: 'a', value: 1 }

test.each([
  ['secrets', 'POST', '', entry],
  ['configs', 'POST', '', entry],
  ['roles', 'PATCH', '/a', { add_permissions: ['b'] }],
])(
  'a change of %s: made for its revision, else 412; without one, as before',
  async (kind, method, path, body) => {
    const { call, json } = await setup()
    const root = `/admin/${kind}`
    const shown = await call('GET', `${root}/a`)
    expect(shown.headers.get('etag')).toBe('"r1"')
    expect(await shown.json()).not.toHaveProperty('revision')
    const detailed = [`${root}/a?detailed=true`, `${root}?detailed=true`]
    for (const one of detailed)
      expect([await (await call('GET', one)).json()].flat()).toMatchObject([{ revision: 'r1' }])
    const change = (headers: Record<string, string>) =>
      json(method, `${root}${path}`, body, headers)
    const changed = await change({ 'if-match': '"r1"' })
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"r2"'])
    expect((await change({})).headers.get('etag')).toBe('"r2"')
    const refused = await change({ 'if-match': '"r0"' })
    expect(refused.status).toBe(412)
    expect(await refused.json()).toMatchObject({
      detail: [{ loc: ['header', 'If-Match'], type: 'precondition_failed' }],
    })
  },
)
