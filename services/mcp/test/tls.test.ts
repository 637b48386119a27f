import { request } from 'node:https'
import { createAuthority } from '@windlass/testkit/certificates'
import { expect, test } from 'vitest'
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
