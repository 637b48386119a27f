import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { freePort } from '../../scripts/process/ports.ts'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'

const FOLDER = new URL('.', import.meta.url).pathname
const READY_LIMIT_MS = 60_000

/** Restate: one server, whose log is flushed before it answers (its default), and one Python service. */
export async function startRestate({ processes, dir, tools }) {
  const [ingress, admin, node, service] = await Promise.all([1, 2, 3, 4].map(() => freePort()))
  const server = processes.start({
    name: 'restate',
    command: tools.restate,
    args: ['--no-logo', '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', `${node}`],
    env: {
      PATH: process.env.PATH,
      RESTATE_BASE_DIR: path.join(dir, 'restate'),
      RESTATE_INGRESS__BIND_PORT: `${ingress}`,
      RESTATE_ADMIN__BIND_PORT: `${admin}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
    },
  })
  const app = processes.start({
    name: 'restate-service',
    command: tools.python,
    args: ['-m', 'hypercorn', '--bind', `127.0.0.1:${service}`, 'restate_app:app'],
    cwd: FOLDER,
  })
  const answers = (url) => async () => (await fetch(url)).ok
  const isReady = answers(`http://127.0.0.1:${admin}/health`)
  await processes.untilReady(server, quietly(isReady), READY_LIMIT_MS)
  const register = async () => {
    const response = await fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${service}` }),
    })
    return response.ok
  }
  await processes.untilReady(app, quietly(register), READY_LIMIT_MS)
  const client = new Client(`http://127.0.0.1:${ingress}`)
  const call = async (handler, body) => {
    const { status, text } = await client.request('POST', `/Bench/${handler}`, { body })
    if (status !== 200) throw new Error(`Restate: ${status} ${text}`)
  }
  const works = { hello: () => call('hello', '"World"'), steps: () => call('steps', '10') }
  return {
    version: execFileSync(tools.restate, ['--version'], { encoding: 'utf8' }).trim(),
    pids: { restate: server.pid, 'restate-service': app.pid },
    processes: [server, app],
    load: ({ work, ...load }) => closedLoop(works[work], load),
    close: () => client.close(),
  }
}

/** A probe that has not answered yet is not an error. */
const quietly = (probe) => () => probe().catch(() => false)
