import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'

const get = async (made: Awaited<ReturnType<typeof startGateway>>, path: string) => {
  const response = await made.call('GET', path)
  expect(response.status, path).toBe(200)
  return response.json()
}

test('lists of workflows, namespaces and versions: the rows of the contract', async () => {
  const rows = [
    workflow({ namespace: 'a', name: 'x', version: 2, id: '2'.repeat(32) }),
    workflow({ namespace: 'a', name: 'y y' }),
    workflow({ namespace: 'b', name: 'x' }),
  ]
  const requests: unknown[] = []
  const made = await startGateway({
    catalog: {
      async list(request) {
        requests.push(request)
        return { workflows: rows }
      },
      listVersions: async () => ({ workflows: rows.slice(0, 1) }),
    },
  })
  expect(await get(made, '/workflows?namespace=a%25')).toEqual([
    { namespace: 'a', name: 'x', version: 2 },
    { namespace: 'a', name: 'y y', version: 1 },
    { namespace: 'b', name: 'x', version: 1 },
  ])
  expect(requests).toMatchObject([{ namespace: 'a%', names_only: true }])
  expect(await get(made, '/namespaces')).toEqual([
    { namespace: 'a', workflow_count: 2 },
    { namespace: 'b', workflow_count: 1 },
  ])
  expect(await get(made, '/workflows/a/x/versions')).toEqual([
    { id: '2'.repeat(32), name: 'x', version: 2 },
  ])
})

test('a single workflow: its source in base64, its declarations byte for byte', async () => {
  const shown = workflow({
    name: 'grüße world',
    source: Buffer.from('# 世界'),
    imports: ['windlass.workflow'],
    metadata_json: '{"n":9007199254740993}',
    requests_json: '{"cpu":1.0}',
    affinity_json: '{"zone":"a"}',
  })
  const requests: unknown[] = []
  const made = await startGateway({
    catalog: {
      async get(request) {
        requests.push(request)
        return shown
      },
    },
  })
  const path = `/workflows/default/${encodeURIComponent('grüße world')}`
  const text = await (await made.call('GET', path)).text()
  expect(text).toContain('"requests":{"cpu":1.0}')
  expect(text).toContain('"metadata":{"n":9007199254740993}')
  expect(JSON.parse(text)).toMatchObject({
    id: shown.id,
    namespace: 'default',
    name: 'grüße world',
    version: 1,
    source: Buffer.from('# 世界').toString('base64'),
    affinity: { zone: 'a' },
  })
  expect(await get(made, `${path}/versions/2`)).toEqual(JSON.parse(text))
  expect(requests).toEqual([
    { namespace: 'default', name: 'grüße world', version: 0 },
    { namespace: 'default', name: 'grüße world', version: 2 },
  ])
})

test('deletion of a version or a workflow: the message names what was deleted', async () => {
  const deleted: unknown[] = []
  const made = await startGateway({
    catalog: {
      async delete(request) {
        deleted.push(request)
        return { deleted: 1 }
      },
    },
  })
  const del = async (query: string) =>
    (await made.call('DELETE', `/workflows/default/hello${query}`)).json()
  expect(await del('?version=2')).toEqual({
    status: 'success',
    message: "Workflow 'default/hello' version 2 deleted successfully",
  })
  expect(await del('')).toEqual({
    status: 'success',
    message: "Workflow 'default/hello' (all versions) deleted successfully",
  })
  expect(deleted).toEqual([
    { namespace: 'default', name: 'hello', version: 2 },
    { namespace: 'default', name: 'hello', version: 0 },
  ])
})

test('lists of executions: paged, with all filters passed on', async () => {
  const requests: unknown[] = []
  const made = await startGateway({
    executions: {
      async list(request) {
        requests.push(request)
        return { executions: [], total: 7, filtered: true }
      },
    },
  })
  expect(await get(made, '/executions')).toMatchObject({
    executions: [],
    total: 7,
    limit: 50,
    offset: 0,
  })
  await get(made, '/executions?state=paused&workflow_name=w&namespace=n&limit=3&offset=99999999999')
  await get(made, '/workflows/default/hello/executions?state=')
  expect((await made.call('GET', '/workflows/default/missing/executions')).status).toBe(404)
  const visible = { all: true, workflows: [], ids: [] }
  const none = {
    ...{ state: '', workflow_namespace: '', workflow_name: '' },
    ...{ visible, limit: 50, offset: 0 },
  }
  expect(requests).toEqual([
    none,
    {
      visible,
      state: 'PAUSED',
      workflow_namespace: 'n',
      workflow_name: 'w',
      limit: 3,
      offset: 99_999_999_999,
    },
    {
      ...none,
      ...{ workflow_namespace: 'default', workflow_name: 'hello' },
      visible: { all: false, workflows: [{ namespace: 'default', name: 'hello' }], ids: [] },
    },
  ])
})

test('any form of an execution id: found under its workflow, 404 under another', async () => {
  const made = await startGateway()
  await made.call('POST', '/workflows/default/hello/run/async')
  const id = made.executions.last
  const dashed = id.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase()
  for (const form of [id, dashed]) {
    expect(await get(made, `/workflows/default/hello/status/${form}`)).toMatchObject({
      execution_id: id,
    })
    expect(await get(made, `/executions/${form}?detailed=true`)).toMatchObject({ events: [] })
  }
  const other = await made.call('GET', `/workflows/default/other/cancel/${id}`)
  expect(other.status).toBe(404)
  expect(await other.json()).toEqual({
    detail: `Execution ${id} does not belong to workflow default/other.`,
  })
  expect(made.executions.commands).toHaveLength(1)
  expect(
    await get(made, `/workflows/default/hello/cancel/${id}?mode=sync&detailed=1`),
  ).toMatchObject({ state: 'CANCELLED', events: [{ type: 'WORKFLOW_CANCELLED' }] })
})

test('a resume: targets the newest version, or its own if pinned', async () => {
  for (const [env, target] of [
    [{}, { workflow_id: workflow().id, workflow_version: 3, requirement: undefined }],
    [{ SVC_EXECUTIONS__RESUME_VERSION: 'pinned' }, undefined],
  ] as const) {
    const made = await startGateway({}, env)
    await made.call('POST', '/workflows/default/hello/run/async')
    const id = made.executions.last
    const response = await made.json('POST', `/workflows/default/hello/resume/${id}/async`, {
      a: 1,
    })
    expect(await response.json()).toMatchObject({ execution_id: id, state: 'RESUMING' })
    expect(made.executions.commands.at(-1)?.body?.value).toEqual({
      body_json: '{"a":1}',
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      target,
    })
  }
})

test('a diff of versions: null for an absent member', async () => {
  const requests: unknown[] = []
  const made = await startGateway({
    catalog: {
      async diff(request) {
        requests.push(request)
        return {
          changes: [{ member: 'affinity', from_json: '', to_json: '{"zone":"a"}' }],
          input: {
            from_json: '',
            to_json: '{"maximum":9007199254740993}',
            compatibility: 'incompatible',
            of_named_members: 'unknown',
            problems: [{ loc_json: '["a",0]', msg: 'it "must"' }],
            example_json: '{"a":[1]}',
          },
          source: { added: 1, removed: 0, patch: '@@ -0,0 +1,1 @@\n+"x"\n' },
        }
      },
    },
  })
  const path = '/workflows/a/x/versions/1/diff/2'
  const text = await (await made.call('GET', path)).text()
  expect(text).toContain('"to":{"maximum":9007199254740993}')
  expect(JSON.parse(text)).toEqual({
    namespace: 'a',
    name: 'x',
    from_version: 1,
    to_version: 2,
    declared: [{ member: 'affinity', from: null, to: { zone: 'a' } }],
    input_schema: {
      from: null,
      to: { maximum: 9007199254740992 },
      changed: true,
      compatibility: 'incompatible',
      compatibility_of_named_members: 'unknown',
      problems: [{ loc: ['a', 0], msg: 'it "must"' }],
      example: { input: { a: [1] } },
    },
    source: { changed: true, added: 1, removed: 0, patch: '@@ -0,0 +1,1 @@\n+"x"\n' },
  })
  expect(requests).toEqual([{ namespace: 'a', name: 'x', from_version: 1, to_version: 2 }])
  for (const bad of ['0/diff/1', '1/diff/x', '1/diff/-1'])
    expect((await made.call('GET', `/workflows/a/x/versions/${bad}`)).status).toBe(422)
})
