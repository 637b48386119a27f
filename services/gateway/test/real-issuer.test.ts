import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { notFound } from '@windlass/runtime/faults'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { expect, onTestFinished, test } from 'vitest'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const AUDIENCE = 'https://windlass.example/'
const CLIENT = { client_id: 'robot', client_secret: 'of the tests alone' }

/** Starts a certified OpenID provider that issues JWT access tokens to CLIENT. */
async function startProvider() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid: 'real', alg: 'RS256', use: 'sig' }
  const oidc = new Provider(issuer, {
    jwks: { keys: [jwk] },
    ttl: { ClientCredentials: 60 },
    clients: [
      { ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, audience) => ({
          scope: 'run',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  })
  server.on('request', oidc.callback())
  const token = async (resource: string) => {
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${CLIENT.client_id}:${encodeURIComponent(CLIENT.client_secret)}`)}`,
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope: 'run' }),
    })
    const body = (await response.json()) as { access_token?: string }
    if (!body.access_token) throw new Error(JSON.stringify(body))
    return body.access_token
  }
  return { issuer, token }
}

test('access tokens of a third-party provider: accepted for the audience of the gateway only', async () => {
  const { issuer, token } = await startProvider()
  const oidc = 'SVC_SECURITY__AUTH__OIDC__'
  const { call } = await startGateway(
    {
      principals: {
        async resolve({ subject, external_issuer }) {
          if (external_issuer !== issuer || subject !== 'robot')
            throw notFound('Principal', subject)
          const principal = {
            ...{ id: ID, subject, external_issuer, type: 'user' },
            ...{ display_name: undefined, enabled: true, roles: [] },
          }
          return { principal, permissions: ['admin:roles:read'] }
        },
      },
      roles: { list: async () => ({ roles: [] }) },
    },
    {
      SVC_SECURITY__AUTH__ENABLED: 'true',
      [`${oidc}ENABLED`]: 'true',
      [`${oidc}ISSUER`]: issuer,
      [`${oidc}AUDIENCE`]: AUDIENCE,
    },
  )
  const send = async (bearer: string) => {
    const headers = { authorization: `Bearer ${bearer}` }
    const response = await call('GET', '/admin/roles', { headers })
    return [response.status, await response.json()]
  }
  expect(await send(await token(AUDIENCE))).toEqual([200, []])
  expect(await send(await token('https://other.example/'))).toEqual([
    401,
    { detail: 'OIDC token validation failed' },
  ])
})
