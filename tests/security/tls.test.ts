import { spawn } from 'node:child_process'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createAuthority } from '@windlass/testkit/certificates'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { example } from '../e2e/api.ts'

const WINDLASS = fileURLToPath(new URL('../../packages/cli/bin/windlass.mjs', import.meta.url))

test('public port with TLS: a Python worker with a client certificate runs, the command line calls', {
  timeout: 120_000,
}, async () => {
  const authority = await createAuthority()
  const server = await authority.issue('localhost')
  const workers = await createAuthority()
  const { certFile, keyFile } = await workers.issue('worker')
  const system = await startSystem({
    workers: 0,
    env: {
      SVC_SERVER__TLS_CERT: server.certFile,
      SVC_SERVER__TLS_KEY: server.keyFile,
      SVC_SERVER__CLIENT_CA: workers.caFile,
    },
  })
  const { port } = new URL(system.url)
  const post = async (path: string, body: string, type = 'application/json') => {
    const { ca } = authority
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
    return new Promise<string>((resolve, reject) => {
      const options = { port, path, method: 'POST', ca, headers, agent: false }
      const call = request(options, (response) => void text(response).then(resolve, reject))
      call.on('error', reject)
      call.end(body)
    })
  }
  const url = ['--server-url', `https://127.0.0.1:${port}`]
  const trust = ['--ca-file', authority.caFile]
  const certificate = ['--client-cert', certFile, '--client-key', keyFile]

  await expect(system.startWorker({ args: [...url, ...trust] })).rejects.toThrow(
    'client certificate is required',
  )
  await system.startWorker({ args: [...url, ...trust, ...certificate] })
  const form = [
    '--x\r\ncontent-disposition: form-data; name="file"; filename="w.py"\r\n\r\n',
    await example('hello_world'),
    '\r\n--x--\r\n',
  ]
  await post('/workflows', form.join(''), 'multipart/form-data; boundary=x')
  const answer = await post('/workflows/default/hello_world/run/sync', '"TLS"')
  expect(JSON.parse(answer)).toMatchObject({ state: 'COMPLETED', output: 'Hello, TLS' })

  const windlass = async (...options: string[]) => {
    const argv = [WINDLASS, 'workflow', 'run', 'hello_world', '"CLI"', ...url, ...options]
    const env = { ...process.env, SVC_CONFIG: '/dev/null' }
    const child = spawn(process.execPath, argv, { env })
    return Promise.all([text(child.stdout), text(child.stderr)])
  }
  const [out] = await windlass(...trust)
  expect(JSON.parse(out)).toMatchObject({ state: 'COMPLETED', output: 'Hello, CLI' })
  const [nothing, err] = await windlass()
  expect([nothing, err]).toEqual(['', expect.stringContaining('has a certificate')])
})
