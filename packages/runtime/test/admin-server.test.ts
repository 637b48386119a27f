import { Readiness } from '@windlass/runtime/admin/readiness'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { startAdminServer } from '../src/admin/admin-server.ts'

const SETTINGS = { host: '127.0.0.1', port: 0, allowed_hosts: [], drain_delay: 0, metrics: true }

async function startFixture() {
  const readiness = new Readiness()
  const server = await startAdminServer(SETTINGS, { readiness, log: pino({ level: 'silent' }) })
  onTestFinished(() => server.stop())
  const get = async (path: string, init?: RequestInit) => {
    const res = await fetch(`http://127.0.0.1:${server.port}${path}`, init)
    return { status: res.status, body: await res.json(), headers: res.headers }
  }
  return { readiness, get }
}

test('a process that starts, serves and stops: live throughout, ready only while it serves', async () => {
  const { readiness, get } = await startFixture()
  expect(await get('/ready')).toMatchObject({
    status: 503,
    body: { status: 'not-ready', reason: 'starting' },
  })
  readiness.setServing()
  expect(await get('/ready')).toMatchObject({ status: 200, body: { status: 'ready' } })
  readiness.setStopping()
  expect(await get('/ready')).toMatchObject({
    status: 503,
    body: { status: 'not-ready', reason: 'stopping' },
  })
  expect(await get('/live')).toMatchObject({ status: 200, body: { status: 'live' } })
})

test('a dependency that fails: /ready names it, and its error is not shown', async () => {
  const { readiness, get } = await startFixture()
  readiness.add('database', async () => {
    throw new Error('password wrong for postgres://user:secret@host')
  })
  readiness.add('cache', async () => undefined)
  readiness.setServing()
  const { status, body } = await get('/ready')
  expect(status).toBe(503)
  expect(body).toEqual({ status: 'not-ready', reason: 'dependencies', failing: ['database'] })
})

test.each([
  ['/nothing', 'GET', 404],
  ['/', 'GET', 404],
  ['/live/', 'GET', 404],
  ['/live', 'POST', 405],
  ['/ready', 'DELETE', 405],
])('%s with %s: %i with a detail', async (path, method, status) => {
  const { get } = await startFixture()
  expect(await get(path, { method })).toMatchObject({
    status,
    body: { detail: expect.any(String) },
  })
})

test('requests of web pages: refused', async () => {
  const { get } = await startFixture()
  const foreign = await get('/live', { headers: { origin: 'https://evil.example' } })
  expect(foreign.status).toBe(403)
  expect(foreign.headers.get('x-content-type-options')).toBe('nosniff')
})
