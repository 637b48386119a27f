import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { startAuthSystem, workflowSource } from './auth-system.ts'
import { hourly } from './invalid-schedule-cases.ts'
import { callTool } from './mcp-client.ts'

/** A server that only notes who connects, and the URL under which a request would reach it. */
async function startTrap() {
  let connections = 0
  const trap = createServer((socket) => {
    connections++
    socket.destroy()
  })
  trap.listen(0, '127.0.0.1')
  await once(trap, 'listening')
  withTest(() => new Promise<void>((resolve) => void trap.close(() => resolve())))
  return {
    url: `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`,
    count: () => connections,
  }
}

test('N032: URLs in uploads, inputs, schedules, secrets, views, headers, tools: none is fetched (SSRF)', async () => {
  const auth = await startAuthSystem(withTest)
  const { url, count } = await startTrap()
  const options = `, description="${url}", packages=["${url}p.whl", "p @ ${url}p.whl"], affinity={"pool": "${url}"}`
  const uploads = [workflowSource('web', 'flow', options), workflowSource('web', 'plain')]
  const statuses: [string, number][] = []
  for (const source of uploads) statuses.push(['upload', (await auth.upload(source)).status])
  const value = { $ref: `${url}schema.json`, $schema: url, url }
  const schedule = { name: 'fetch', workflow_name: 'web/plain', schedule_config: hourly }
  const headers = {
    traceparent: url,
    referer: url,
    'x-forwarded-host': url,
    forwarded: `host=${url}`,
  }
  const requests: [string, unknown][] = [
    ['POST /workflows/web/plain/run/async', value],
    [`POST /workflows/web/plain/run/async?callback=${encodeURIComponent(url)}`, url],
    ['POST /schedules', { ...schedule, input_data: value, description: url }],
    ['POST /admin/secrets', { name: 'fetch', value }],
    ['POST /admin/configs', { name: 'fetch', value }],
    ['PUT /me/views/fetch', { screen: 'executions', query: url }],
    [
      'POST /auth/test-token',
      { token: `e30.${Buffer.from(`{"iss":"${url}"}`).toString('base64url')}.e30` },
    ],
    ['POST /admin/principals', { type: 'user', subject: 'x', external_issuer: url, roles: [] }],
  ]
  for (const [what, body] of requests) {
    const { status } = await auth.request(what, { token: auth.admin, body, headers })
    statuses.push([what, status])
  }
  const run = { workflow_namespace: 'web', workflow_name: 'plain', input_data: JSON.stringify(url) }
  const call = { name: 'execute_workflow_async', arguments: run }
  statuses.push(['tool', (await callTool(auth, call, { token: auth.admin })).status])
  const forged = `${Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'k', jku: url, x5u: url })).toString('base64url')}.e30.AA`
  statuses.push(['token', (await auth.request('GET /me', { token: forged })).status])

  const accepted = statuses.filter(([, status]) => status < 300).map(([what]) => what)
  expect(accepted, JSON.stringify(statuses)).toEqual(
    expect.arrayContaining(['upload', 'tool', ...requests.slice(0, 2).map(([what]) => what)]),
  )
  expect(count()).toBe(0)
  await fetch(url).catch(() => {})
  expect(count(), 'the trap notes connections').toBe(1)
})
