import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import module from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { PROGRAMS } from '../setup/bundled-programs.ts'

const ENTRY = fileURLToPath(new URL('../../deploy/image/entry.mjs', import.meta.url))
const HEALTH = fileURLToPath(new URL('../../deploy/image/health.mjs', import.meta.url))

/** Starts a server that answers with these statuses, the last one again and again; returns its port. */
async function listen(...statuses: number[]): Promise<string> {
  const server = http.createServer((_, response) => {
    const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 0
    response.writeHead(status).end(`${status}\n`)
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return String((server.address() as AddressInfo).port)
}

async function waitForHealth(env: Record<string, string>) {
  const check = spawn(process.execPath, [HEALTH, '--wait'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [errors] = await Promise.all([text(check.stderr), once(check, 'exit')])
  return { code: check.exitCode, errors }
}

test('the health check with --wait: ends when the service is ready, and prints each reason once', async () => {
  const SVC_ADMIN__PORT = await listen(503, 503, 503, 200)
  const MAINPID = String(process.pid)
  expect(await waitForHealth({ SVC_ADMIN__PORT, MAINPID })).toEqual({ code: 0, errors: '503\n' })
})

test('the health check with --wait, the process of the service has ended: fails', async () => {
  const SVC_ADMIN__PORT = await listen(503)
  const { pid } = spawnSync(process.execPath, ['--version'])
  const { code, errors } = await waitForHealth({ SVC_ADMIN__PORT, MAINPID: String(pid) })
  expect({ code, errors }).toEqual({ code: 1, errors: `process ${pid} has ended\n` })
})

const enter = (...args: string[]) =>
  spawnSync(process.execPath, [ENTRY, ...args], { encoding: 'utf8' })

test.each(['', 'nginx', 'gateway --port=1', 'migrate', 'migrate gateway'])(
  'arguments of the image that name no program (%j): the usage names every service',
  (line) => {
    const { status, stderr } = enter(...line.split(' ').filter(Boolean))
    expect(status).toBe(2)
    for (const place of Object.keys(PROGRAMS).filter((name) => name.startsWith('services/')))
      expect(stderr).toContain(place.slice('services/'.length))
  },
)

test.each([
  [200, '{"status":"ready"}', 0, ''],
  [503, '{"reason":"starting"}', 1, '{"reason":"starting"}'],
])(
  'the health check of a service that answers %i: ends with its answer unless it is ready',
  async (status, body, code, printed) => {
    const server = http.createServer((_, response) => response.writeHead(status).end(body))
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const env = { ...process.env, SVC_ADMIN__PORT: String((server.address() as AddressInfo).port) }
    const check = spawn(process.execPath, [HEALTH], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const [errors] = await Promise.all([text(check.stderr), once(check, 'exit')])
    expect([check.exitCode, errors]).toEqual([code, printed])
  },
)

/** A folder like the image, in which this is the program of the service `mcp`; returns what runs a file of it. */
function imageWith(program: string) {
  const image = mkdtempSync(path.join(tmpdir(), 'windlass-image-'))
  onTestFinished(() => rmSync(image, { recursive: true }))
  for (const name of ['compile.mjs', 'entry.mjs'])
    copyFileSync(path.join(path.dirname(ENTRY), name), path.join(image, name))
  const dist = path.join(image, 'services/mcp/dist')
  mkdirSync(dist, { recursive: true })
  writeFileSync(path.join(dist, 'main.js'), program)
  return (name: string) =>
    spawnSync(process.execPath, [path.join(image, name), 'mcp'], {
      ...{ encoding: 'utf8', env: { ...process.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' } },
    })
}

test.each([
  ['waits for a store', ''],
  ['has refused to start', 'process.exitCode = 1;'],
])('compiled code of the build, the program %s: used at the start of the program', (_, first) => {
  // It waits, as a service does for a store, until compile.mjs ends it.
  const begun = `${first} await new Promise(() => {})`
  const run = imageWith(`if (!process.argv[1].endsWith('entry.mjs')) { ${begun} }\n`)
  expect(run('compile.mjs').status).toBe(0)
  const { status, stdout, stderr } = run('entry.mjs')
  expect(status).toBe(0)
  // Node 20 keeps no compiled code.
  if ('enableCompileCache' in module) expect(stdout + stderr).toMatch(/mcp.* was accepted/)
})

test('the program of a service cannot be loaded: the build fails', () => {
  const run = imageWith(`import './missing.js'\n`)
  expect(run('compile.mjs').status).toBe(1)
})
