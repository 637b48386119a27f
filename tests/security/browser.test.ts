import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { call } from '@windlass/testkit/http'
import { startSystem } from '@windlass/testkit/system'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ATTACKS, SECRET, type Target } from './attack-page.ts'
import { launch, openAddress, whyNoBrowser } from './chromium.ts'

const CANARY = 'canary'
const REBOUND = 'rebound.example'
const PAGE = '<!doctype html><title>page</title><body></body>'
const WORKFLOW = `from windlass import ExecutionContext, workflow

@workflow.with_options(name="hello", namespace="default")
async def hello(context: ExecutionContext):
    return context.input
`

/** The id of the requests of the test itself. */
const OWN = { 'x-request-id': 'own' }

interface Line {
  request_id: string
  method: string
  path: string
  status: number
}

const obstacle = whyNoBrowser()
const undo: (() => unknown)[] = []
const defer = (one: () => unknown) => void undo.push(one)
let gateway: string
let foreignPort: number
let context: BrowserContext
/** The gateway's request log. */
const lines: Line[] = []

beforeAll(async () => {
  if (obstacle) return
  const system = await startSystem({
    workers: 0,
    defer,
    env: { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'a key of the tests alone' },
    onOutput: readLog(),
  })
  gateway = system.gateways[0] ?? ''
  const form = new FormData()
  form.append('file', new Blob([WORKFLOW]), 'w.py')
  const uploaded = await fetch(`${gateway}/workflows`, { method: 'POST', body: form })
  expect(uploaded.status).toBe(200)
  const body = JSON.stringify({ name: 's', value: CANARY })
  expect((await call('POST', `${gateway}/admin/secrets`, { body })).status).toBe(200)

  foreignPort = await servePages()
  const browser = await launch(REBOUND)
  defer(() => browser.close())
  context = await browser.newContext()
  // After DNS rebinding the page stays, and its name resolves to the gateway.
  await context.route('**/attack', (route) =>
    route.fulfill({ contentType: 'text/html', body: PAGE }),
  )
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

/** Collects the request lines of what the services print. */
function readLog() {
  let rest = ''
  return (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) if (part.includes('"msg":"request"')) lines.push(JSON.parse(part))
  }
}

/** Serves the pages of an attacker; `/sandboxed` has the opaque origin `null`. */
async function servePages(): Promise<number> {
  const server = createServer(({ url }, response) => {
    if (url === '/sandboxed')
      response.setHeader('content-security-policy', 'sandbox allow-scripts allow-forms')
    response.setHeader('content-type', 'text/html').end(PAGE)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Pages by what they are to the gateway. Those at its own port are put there by the browser. */
const ORIGINS = {
  'another site': () => `http://localhost:${foreignPort}/`,
  'another port of the same host': () => `http://127.0.0.1:${foreignPort}/`,
  'an opaque origin': () => `http://localhost:${foreignPort}/sandboxed`,
  'a rebound name': () => `http://${REBOUND}:${new URL(gateway).port}/attack`,
} as const

const get = async (path: string) => (await call('GET', gateway + path, { headers: OWN })).json

/** Everything that an attack could have changed. */
const state = async () => ({
  workflows: await get('/workflows'),
  executions: (await get('/executions')).executions?.map(
    ({ execution_id, state }: Record<string, string>) => [execution_id, state],
  ),
  secrets: await get('/admin/secrets'),
  workers: await get('/workers'),
})

/** Runs an attack in a page; returns what it read, the gateway's lines of it, and the state around it. */
async function attempt(url: string, { request, script }: (typeof ATTACKS)[number]) {
  const run = `${gateway}/workflows/default/hello/run/async`
  const queued = await call('POST', run, { headers: OWN })
  const execution: string = queued.json.execution_id
  const before = await state()
  // A rebound page attacks its own origin: for the browser it is the server.
  const target: Target = { url: url.includes(REBOUND) ? new URL(url).origin : gateway, execution }
  const [method, path] = request(target).split(' ')
  const start = lines.length
  const seen = () =>
    lines.slice(start).filter((line) => {
      const isRequest = line.method === method || line.method === 'OPTIONS'
      return isRequest && line.path === path && line.request_id !== OWN['x-request-id']
    })
  const page = await context.newPage()
  try {
    await openAddress(page, url)
    // A navigation ends the script before it can answer.
    const read = await page.evaluate(script(target)).catch(() => '')
    await expect.poll(() => seen().length, { message: 'the gateway logs the request' }).not.toBe(0)
    return { read: String(read), seen: seen(), before, after: await state() }
  } finally {
    await page.close()
  }
}

describe.skipIf(obstacle)(
  `Chromium against an open gateway${obstacle ? `: ${obstacle}` : ''}`,
  () => {
    const cases = Object.entries(ORIGINS).flatMap(([origin, url]) =>
      ATTACKS.map((attack) => [origin, attack.name, { url, attack }] as const),
    )
    test.each(cases)('%s, %s: 403, nothing changes', async (_, _name, { url, attack }) => {
      const { read, seen, before, after } = await attempt(url(), attack)
      expect(seen.map(({ status }) => status)).toEqual(seen.map(() => 403))
      expect(read).not.toContain(CANARY)
      expect(after).toEqual(before)
    })

    // The same scripts in a page of the gateway's own origin: they work, so the tests above can fail.
    const controls = ATTACKS.map((attack) => [attack.name, attack] as const)
    test.each(controls)('own origin, %s: served', async (_, attack) => {
      const { read, seen, before, after } = await attempt(`${gateway}/attack`, attack)
      for (const { status } of seen) expect(status).not.toBe(403)
      if (attack.effect === 'change') expect(after).not.toEqual(before)
      if (attack.effect === 'read') expect(read).toContain(CANARY)
    })

    test('navigation from the address bar: served', async () => {
      const page = await context.newPage()
      const answer = await openAddress(page, `${gateway}${SECRET}`)
      expect([answer?.status(), await page.textContent('body')]).toEqual([
        200,
        expect.stringContaining(CANARY),
      ])
      await page.close()
    })
  },
)
