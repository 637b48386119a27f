import { request } from 'node:https'
import { createAuthority } from '@windlass/testkit/certificates'
import { exposeMetrics } from '@windlass/testkit/exposed-metrics'
import { startService } from '@windlass/testkit/service'
import { expect, test } from 'vitest'
import { start } from '../src/server.ts'
import { connectOverHttp } from './mcp-fixture.ts'

test('tls_cert and tls_key: the MCP port speaks TLS only', async () => {
  const authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('localhost')
  const { url } = await connectOverHttp({ SVC_MCP__TLS_CERT: certFile, SVC_MCP__TLS_KEY: keyFile })
  const { port } = new URL(url)
  const status = (ca: string) =>
    new Promise((resolve, reject) => {
      const options = { port, path: '/mcp', method: 'DELETE', ca, agent: false }
      const call = request(options, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      call.on('error', reject)
      call.end()
    })
  expect(await status(authority.ca)).toBe(405)
  await expect(status((await createAuthority()).ca)).rejects.toThrow('certificate')
  await expect(fetch(url)).rejects.toThrow()
})

test('an expired certificate: not ready, until the files are replaced', async () => {
  const metric = exposeMetrics()
  const problem = 'windlass_problems{problem="certificate"'
  const authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('localhost', -1_000)
  const { readiness, logged } = await startService(start, {
    SVC_MCP__PORT: '0',
    SVC_MCP__TLS_CERT: certFile,
    SVC_MCP__TLS_KEY: keyFile,
  })
  readiness.setServing()
  expect(await readiness.report()).toEqual({
    status: 'not-ready',
    reason: 'dependencies',
    failing: ['certificate'],
  })
  expect(logged()).toMatch(/"problem":"certificate".*the certificate of \[svc.mcp\] has expired/)
  expect(await metric(problem)).toBe(1)
  await authority.issue('localhost')
  await expect.poll(() => readiness.report()).toEqual({ status: 'ready' })
  expect(logged()).toMatch(/"problem":"certificate".*the problem has ended/)
  expect(await metric(problem)).toBe(0)
})
