import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type InteractionResults } from 'oidc-provider'
import { type Defer, withTest } from './defer.ts'

/** The client of the console at the provider. */
export const CLIENT = { client_id: 'console', client_secret: 'of the tests & alone' }

export type LateServer = Awaited<ReturnType<typeof lateServer>>

/** A server on loopback whose listener is set later: its address is part of what it serves. */
export async function lateServer(defer: Defer = withTest, name = '127.0.0.1') {
  let listener: RequestListener = (_, res) => void res.writeHead(503).end()
  const server = createServer((req, res) => listener(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}`,
    serve: (next: RequestListener) => {
      listener = next
    },
  }
}

/** Answers a request of the page on which a person signs in; `finish` leads back to the provider. */
export type SignInPage = (
  req: IncomingMessage,
  res: ServerResponse,
  finish: (result: InteractionResults) => Promise<void>,
) => unknown

/** Serves a certified OpenID provider with CLIENT, for which consent is given already. */
export function serveProvider(
  { url: issuer, serve }: LateServer,
  redirectUri: string,
  page: SignInPage,
): void {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'real', alg: 'RS256', use: 'sig' }
  const oidc = new Provider(issuer, {
    jwks: { keys: [jwk] },
    cookies: { keys: ['of the tests alone'] },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], profile: ['name'] },
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, name: 'Ann' }) }),
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc: { client, session } }) {
      const grant = new oidc.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
  })
  const handle = oidc.callback()
  serve((req, res) => {
    if (!req.url?.startsWith('/interaction/')) return void handle(req, res)
    page(req, res, (result) => oidc.interactionFinished(req, res, result))
  })
}
