import { GENESIS, hashEntry } from '@windlass/domain/audit'
import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const AT = '2030-01-01T00:00:00Z'

const FILTERS = {
  ...{ state: 'failed', exclude_state: 'paused', namespace: 'team', workflow_name: 'report' },
  ...{ version: 3, schedule_id: ID, worker_name: 'w1', created_by: 'ann', parent_id: ID },
  ...{ created_after: AT, created_before: AT, finished_after: AT, finished_before: AT },
  ...{ min_duration: 1.5, max_duration: 9, id: '01234567', tags: 'a=b', error: 'boom' },
  payload: 'input.order=7',
}
const asText = (members: object) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, String(value)]))
const queryOf = (members: object) => String(new URLSearchParams(asText(members)))

const STATS = '"from":"a","to":"b","step":60,"buckets":[{"started":1}],"cut":false'
const PAGE = '"executions":[],"total":9,"total_exact":true,"next_cursor":null,"cut":false'
const PREVIEW = '"count":3,"forbidden":0,"left_out":1,"sample":[]'
const PROGRESS = `"id":"${ID}","action":"cancel","state":"ended","total":3,"done":3,"failed":0,"stopped":false,"failures":[]`
const EXPLAINED =
  '"state":"SCHEDULED","reason":"no_worker","queue_position":1,"requirement":{},"workers":[],"suggestion":"x"'
const TIMELINE =
  '"base":"t","state":"RUNNING","last_seq":9,"cut":false,"attempts":[],"tasks":[],"calls":{}'
const LOG =
  '"entries":[{"seq":9007199254740993}],"last_seq":9,"more_before":true,"more_after":false'
const USES = '"workflows":[],"others":0,"last_uses":null'

/** The tool, its arguments, the request with its body, and the members that it returns of the answer. */
const cases: [tool: string, args: object, route: string, body: string, members: string][] = [
  [
    ...(['search_executions', { ...FILTERS, sort: '-finished', cursor: 'c', limit: 5 }] as const),
    `GET /executions?${queryOf({ ...FILTERS, sort: '-finished', cursor: 'c', limit: 5 })}`,
    ...(['', PAGE] as const),
  ],
  ['search_executions', {}, 'GET /executions', '', PAGE],
  [
    ...(['get_execution_stats', { from: AT, step: 60, group: 'worker' }] as const),
    `GET /executions/stats?${queryOf({ from: AT, step: 60, group: 'worker' })}`,
    ...(['', STATS] as const),
  ],
  ['get_queue', {}, 'GET /queue', '', '"queues":[],"cut":false'],
  ['explain_execution', { execution_id: ID }, `GET /executions/${ID}/explain`, '', EXPLAINED],
  ['get_execution_timeline', { execution_id: ID }, `GET /executions/${ID}/timeline`, '', TIMELINE],
  [
    ...(['get_execution_log', { execution_id: ID, before: 9, payloads: 'full' }] as const),
    ...([`GET /executions/${ID}/log?before=9&payloads=full`, '', LOG] as const),
  ],
  [
    ...(['get_execution_output_lines', { execution_id: ID, level: 'error' }] as const),
    ...([`GET /executions/${ID}/logs?level=error`, '', '"lines":[],"more":false'] as const),
  ],
  ['get_worker_history', { worker_name: 'w1' }, 'GET /workers/w1/history', '', STATS],
  [
    ...(['change_executions', { ...FILTERS, action: 'cancel' }, 'POST /executions/bulk'] as const),
    JSON.stringify({ filter: asText(FILTERS), action: 'cancel', dry_run: true, after_seq: 0 }),
    PREVIEW,
  ],
  [
    'change_executions',
    {
      ...{ state: 'failed', action: 'fork', dry_run: false, expect: 3, input_data: '{"n": 1.0}' },
      ...{ to_version: 2, after_seq: 7 },
    },
    'POST /executions/bulk',
    '{"filter":{"state":"failed"},"action":"fork","dry_run":false,"expect":3,"input":{"n": 1.0},"version":2,"after_seq":7}',
    PROGRESS,
  ],
  ['get_bulk_progress', { bulk_id: ID }, `GET /executions/bulk/${ID}`, '', PROGRESS],
  ['list_views', {}, 'GET /me/views', '', '"views":[]'],
  ['delete_view', { view_name: 'a b' }, 'DELETE /me/views/a%20b', '', '"message":"View deleted"'],
  [
    ...(['get_secret_uses', { secret_name: 'db url' }] as const),
    ...(['GET /admin/secrets/db%20url/uses', '', USES] as const),
  ],
  [
    ...(['get_config_uses', { config_name: 'rate limit' }] as const),
    ...(['GET /admin/configs/rate%20limit/uses', '', '"workflows":[],"others":1'] as const),
  ],
  [
    ...(['get_workflow_configs', { workflow_name: 'ship' }] as const),
    ...(['GET /workflows/default/ship/configs', '', '"configs":null,"cut":false'] as const),
  ],
]

test('tools that inspect and change executions: send what is given, and return the answer exactly', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  await client.listTools()
  for (const [tool, args, route, body, members] of cases) {
    api.answers.set(route, { body: `{${members}}` })
    const { text } = await callTool(client, tool, args as Record<string, unknown>)
    expect(text, tool).toBe(`{"success":true,${members}}`)
    expect(api.seen.at(-1), tool).toMatchObject({ route, body })
  }
})

test('save_view: sends screen and filters', async () => {
  const { api, connect } = await connectOverHttp()
  api.answers.set('PUT /me/views/mine', { body: '{"name":"mine"}' })
  const args = { view_name: 'mine', screen: 'executions', query: 'state=failed' }
  const { text } = await callTool(await connect(), 'save_view', args)
  expect(text).toBe('{"success":true,"view":{"name":"mine"}}')
  expect(api.seen[0]?.body).toBe('{"screen":"executions","query":"state=failed"}')
})

/** Two chained entries as the API sends them. */
function auditEntries() {
  let previous: Uint8Array = GENESIS
  return [1, 2].map((seq) => {
    const entry = {
      ...{ seq, at: AT, subject: 'ann', issuer: '', key_prefix: '', request_id: 'r' },
      ...{ action: 'secret.put', object: 'secret:a', outcome: 'done', detail_json: '{}' },
    }
    const hash = hashEntry(previous, entry)
    const { subject, issuer, key_prefix, detail_json, ...shown } = entry
    const sent = {
      ...{ ...shown, actor: { subject, issuer, key_prefix }, detail: JSON.parse(detail_json) },
      ...{ previous_hash: Buffer.from(previous).toString('hex'), hash: hash.toString('hex') },
    }
    previous = hash
    return sent
  })
}

async function verify(entries: ReturnType<typeof auditEntries>, args: object = {}) {
  const { api, connect } = await connectOverHttp()
  const { seq, hash } = entries.at(-1) ?? { seq: 0, hash: '' }
  for (const after of [0, 1, 2])
    api.answers.set(`GET /admin/audit?after=${after}&limit=1000`, {
      body: JSON.stringify({ entries: entries.slice(after), head: { seq, hash } }),
    })
  const { text } = await callTool(await connect(), 'verify_audit_log', args as never)
  return JSON.parse(text)
}

test('verify_audit_log: a whole log has no problems; its head is returned and can be given again', async () => {
  const entries = auditEntries()
  const head = `2:${entries[1]?.hash}`
  const signed = { notes: [], checkpoints: 0, keys: [] }
  const whole = { success: true, whole: true, entries: 2, head, problems: [], ...signed }
  expect(await verify(entries)).toEqual(whole)
  expect(await verify(entries, { head })).toEqual(whole)
  expect(await verify(entries, { head: 'x' })).toMatchObject({
    success: false,
    error: expect.stringContaining('SEQ:HASH'),
  })
})

test('verify_audit_log: a changed entry is a problem', async () => {
  const [first, second] = auditEntries()
  if (!first || !second) throw new Error('two entries')
  const found = await verify([{ ...first, action: 'secret.delete' }, second])
  expect(found).toMatchObject({ whole: false, problems: [expect.stringContaining('1')] })
})
