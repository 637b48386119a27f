import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseKeys, RPC_SERVICES } from '@windlass/rpc/pair-keys'
import { fakeApi } from '@windlass/testkit/api-fake'
import { expect, onTestFinished, test } from 'vitest'

const BIN = fileURLToPath(new URL('../bin/windlass.mjs', import.meta.url))
const ROOT = new URL('../../../', import.meta.url)

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'windlass-cli-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

function start(argv: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [BIN, ...argv], {
    env: { ...process.env, SVC_CONFIG: '/dev/null', ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function finished(
  child: ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream },
) {
  const [out, err, [status]] = await Promise.all([
    text(child.stdout as never),
    text(child.stderr as never),
    once(child, 'exit'),
  ])
  return { out, err, status: status as number }
}

/** Writes an interpreter that runs `script`; CALLED in it prints the arguments. */
async function fakePython(script: string): Promise<string> {
  const path = join(await folder(), 'python')
  await writeFile(path, `#!/bin/sh\n${script.replace('CALLED', 'echo "called: $*"')}\n`)
  await chmod(path, 0o755)
  return path
}

test('--version: prints the version of the project', async () => {
  const { version } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'))
  expect(await finished(start(['--version']))).toMatchObject({
    out: `windlass ${version}\n`,
    status: 0,
  })
})

test('a reader that closes the pipe early: the command ends without an error', async () => {
  const child = start(['--help'])
  child.stdout.destroy()
  const [err] = await Promise.all([text(child.stderr), once(child, 'exit')])
  expect(err).toBe('')
})

test('a full disk under the output: one sentence, exit status 1', async () => {
  const full = await open('/dev/full', 'w')
  onTestFinished(() => full.close())
  const env = { ...process.env, SVC_CONFIG: '/dev/null' }
  const stdio: StdioOptions = ['ignore', full.fd, 'pipe']
  const child = spawn(process.execPath, [BIN, '--help'], { env, stdio })
  const exited = once(child, 'exit')
  const err = await text(child.stderr as never)
  expect(await exited).toEqual([1, null])
  expect(err).toMatch(/^windlass: cannot write the output: ENOSPC[^\n]*\n$/)
})

test('SIGINT while the server does not answer: the command ends by it', async () => {
  const api = await fakeApi()
  api.answers.set('GET /me', 'silence')
  const child = start(['me', '--server-url', api.url])
  const exited = once(child, 'exit')
  await expect.poll(() => api.seen.length).toBe(1)
  child.kill('SIGINT')
  const [status, signal] = await exited
  expect(signal === 'SIGINT' ? 130 : status).toBe(130)
})

test('SIGINT while a run is awaited: the command says how to wait for it again', async () => {
  const api = await fakeApi()
  api.answers.set('POST /workflows/default/flow/run/sync?wait_for=paused&timeout=240', 'silence')
  const child = start(['workflow', 'run', 'flow', '--server-url', api.url])
  const ended = finished(child)
  await expect.poll(() => api.seen.length).toBe(1)
  child.kill('SIGINT')
  const key = api.seen[0]?.headers['idempotency-key']
  expect(key).toMatch(/^\S{8,}$/)
  expect(await ended).toEqual({
    out: '',
    err: `\nwindlass: if the run was started, it continues. To wait for it again, add: --idempotency-key ${key}\n`,
    status: 130,
  })
})

test('server rpc-keys: one file of keys for each service, readable by its owner only', async () => {
  const dir = join(await folder(), 'keys')
  const write = async (env: Record<string, string> = {}) => {
    const { out, status } = await finished(start(['server', 'rpc-keys', dir], env))
    expect(status).toBe(0)
    const paths = out.trim().split('\n')
    expect(paths.map((path) => basename(path, '.env'))).toEqual([...RPC_SERVICES])
    for (const path of paths) expect((await stat(path)).mode & 0o777).toBe(0o600)
    return Promise.all(paths.map((path) => readFile(path, 'utf8')))
  }
  const lines = await write()
  RPC_SERVICES.forEach((service, i) => {
    const [, keys = ''] = /^SVC_RPC__KEYS=(\S+)\n$/.exec(lines[i] ?? '') ?? []
    parseKeys(service, keys.split(','))
  })
  expect(await write()).not.toEqual(lines)
  const kept = { SVC_RPC__SECRET: 'a secret that no service gets' }
  expect(await write(kept)).toEqual(await write(kept))
})

test('server bootstrap-token: prints the configured token, else that of the home directory', async () => {
  const home = await folder()
  const command = ['server', 'bootstrap-token']
  const absent = await finished(start(command, { SVC_HOME: home }))
  expect(absent).toMatchObject({
    status: 1,
    out: '',
    err: expect.stringContaining('does not exist'),
  })

  await writeFile(join(home, 'bootstrap-token'), 'abc\n')
  expect(await finished(start(command, { SVC_HOME: home }))).toMatchObject({
    status: 0,
    out: 'abc\n',
  })
  expect(await finished(start([...command, '--home', home]))).toMatchObject({ out: 'abc\n' })
  const configured = { SVC_HOME: home, SVC_WORKERS__BOOTSTRAP_TOKEN: ' xyz ' }
  expect(await finished(start(command, configured))).toMatchObject({ out: 'xyz\n' })
})

test('worker start: passes the arguments and the token on, and returns the exit status', async () => {
  const home = await folder()
  await writeFile(join(home, 'bootstrap-token'), 'abc\n')
  const WINDLASS_PYTHON = await fakePython('CALLED; exit 7')
  const reading = await fakePython('CALLED; cat <&3; exit 7')
  const args = ['worker', 'start', '--name', 'w 1', '--label', 'a=b']

  const { out, status } = await finished(start(args, { WINDLASS_PYTHON: reading, SVC_HOME: home }))
  expect(out).toBe(
    'called: -m windlass.worker start --name w 1 --label a=b --bootstrap-token-fd 3\nabc\n',
  )
  expect(status).toBe(7)
  const given = await finished(
    start([...args, '--bootstrap-token=x'], { WINDLASS_PYTHON, SVC_HOME: home }),
  )
  expect(given.out).toMatch(/a=b --bootstrap-token=x\n$/)
})

test('worker start with server secrets in the environment: the worker gets none of them', async () => {
  const secrets = {
    SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'canary-encryption-key',
    SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'canary-token-secret',
    SVC_POSTGRES__URL: 'postgres://u:canary-postgres@127.0.0.1/x',
    SVC_NATS__URL: 'nats://u:canary-nats@127.0.0.1:4222',
    SVC_REDIS__URL: 'redis://u:canary-redis@127.0.0.1:6379',
    SVC_RPC__SECRET: 'canary-rpc-secret',
    SVC_WORKERS__BOOTSTRAP_TOKEN: 'canary-bootstrap-token',
    svc_auth_token: 'canary-auth-token',
  }
  const WINDLASS_PYTHON = await fakePython('env; echo "called: $*"; echo "token: $(cat <&3)"')
  const { out } = await finished(
    start(['worker', 'start'], {
      ...secrets,
      SVC_WORKERS__SERVER_URL: 'http://127.0.0.1:1',
      WINDLASS_PYTHON,
    }),
  )
  expect(out).toContain('SVC_WORKERS__SERVER_URL=http://127.0.0.1:1')
  const [seen = '', token] = out.split('\ntoken: ')
  expect(seen).not.toContain('canary')
  expect(token).toBe('canary-bootstrap-token\n')
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: reaches the worker once, and its exit status is returned',
  async (signal) => {
    const name = signal.slice(3)
    const WINDLASS_PYTHON = await fakePython(`
n=0
trap 'n=$((n+1)); echo "got ${name} $n"' ${name}
CALLED
while [ $n -lt 1 ]; do sleep 0.05; done
sleep 0.3
exit $((n + 2))`)
    const child = start(['worker', 'start', '--bootstrap-token', 'x'], { WINDLASS_PYTHON })
    child.stdout.once('data', () => child.kill(signal))

    const { out, status } = await finished(child)
    expect(out).toMatch(new RegExp(`got ${name} 1\n$`))
    expect(status).toBe(3)
  },
)

test('a missing interpreter: one line with the reason', async () => {
  const { status, err } = await finished(
    start(['worker', 'start', '--bootstrap-token', 'x'], {
      WINDLASS_PYTHON: '/nonexistent/python',
    }),
  )
  expect(status).toBe(1)
  expect(err).toMatch(/^windlass: cannot run \/nonexistent\/python: .*ENOENT\n$/)
})

test('server start: runs the script of npm start', async () => {
  const { status, out } = await finished(start(['server', 'start', '--help']))
  expect(status).toBe(0)
  expect(out).toContain('--workers N')
})

test('server with options only: passes them to the script of npm start', async () => {
  const { status, err } = await finished(start(['server', '--single-process', '--port', '65536']))
  expect(status).toBe(1)
  expect(err).toContain('--port must be a whole number from 0 to 65535')
})

test('server --help: lists its commands', async () => {
  const { status, out } = await finished(start(['server', '--help']))
  expect(status).toBe(0)
  expect(out).toContain('windlass server [start] [options]')
  expect(out).toContain('windlass server bootstrap-token')
})

test('mcp: serves the tools over standard input and output', async () => {
  const api = await fakeApi()
  api.answers.set('GET /health', { body: '{"status":"healthy"}' })
  const child = start(['mcp', '--server-url', api.url])
  const call = { name: 'health_check', arguments: {} }
  child.stdin.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })}\n`,
  )
  const answered = once(child.stdout, 'data')
  expect(JSON.parse(String((await answered)[0]))).toMatchObject({
    result: { structuredContent: { success: true, health: { status: 'healthy' } } },
  })
  child.stdin.end()
  expect((await finished(child)).status).toBe(0)
})
