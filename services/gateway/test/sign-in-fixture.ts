import { randomBytes } from 'node:crypto'
import { notFound } from '@windlass/runtime/faults'
import { CLIENT, type LateServer, serveProvider } from '@windlass/testkit/oidc-provider'
import { ID } from './assert-response.ts'
import { type FakeServices, startGateway } from './gateway-fixture.ts'

/** Serves a certified OpenID provider at which `person` signs in at once, or refuses with an error. */
export function servePerson(server: LateServer, redirectUri: string) {
  const person: { subject: string | undefined } = { subject: 'ann' }
  serveProvider(server, redirectUri, (_req, _res, finish) => {
    const { subject } = person
    return finish(
      subject === undefined ? { error: 'access_denied' } : { login: { accountId: subject } },
    )
  })
  return person
}

/** A gateway with the sign-in at an issuer, which knows the principals of `known`. */
export async function startOidcGateway(
  issuer: string,
  { scripts = {}, env = {} }: { scripts?: FakeServices; env?: Record<string, string> } = {},
) {
  const known = new Map([['ann', { enabled: true, permissions: ['execution:*:read'] }]])
  const gateway = await startGateway(
    {
      principals: {
        async resolve({ subject, external_issuer }) {
          const account = known.get(subject)
          if (!account || external_issuer !== issuer) throw notFound('Principal', subject)
          const { enabled, permissions } = account
          const principal = {
            ...{ id: ID, subject, external_issuer, type: 'user', enabled },
            ...{ display_name: undefined, roles: ['viewer'] },
          }
          return { principal, permissions }
        },
        ...scripts.principals,
      },
    },
    {
      SVC_SECURITY__AUTH__ENABLED: 'true',
      // Refused sign-ins are counted for each address, and tests share one Redis.
      SVC_SERVER__TRUSTED_PROXIES: '1',
      SVC_CONSOLE__OIDC__ENABLED: 'true',
      SVC_CONSOLE__OIDC__ISSUER: issuer,
      SVC_CONSOLE__OIDC__CLIENT_ID: CLIENT.client_id,
      SVC_CONSOLE__OIDC__CLIENT_SECRET: CLIENT.client_secret,
      ...env,
    },
  )
  return { ...gateway, known }
}

/**
 * A browser as far as redirects and cookies go; cookies are kept by host, since both servers have the same name. A
 * redirect to another host is one from another site: cookies with SameSite=Strict are not sent.
 */
export function browse() {
  const address = `10.${[...randomBytes(3)].join('.')}`
  const cookies = new Map<string, Map<string, string>>()
  const strict = new Set<string>()
  const store = (host: string, jar: Map<string, string>, set: string) => {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
    if (/samesite=strict/i.test(set)) strict.add(`${host} ${name}`)
    if (value === '' || /max-age=0\b/i.test(set)) jar.delete(name)
    else jar.set(name, value)
  }
  const visit = async (
    url: string,
    headers: Record<string, string> = {},
    from = url,
  ): Promise<Response> => {
    const { host } = new URL(url)
    const jar = cookies.get(host) ?? new Map<string, string>()
    cookies.set(host, jar)
    const isSent = ([name]: [string, string]) =>
      new URL(from).host === host || !strict.has(`${host} ${name}`)
    const sentCookies = [...jar].filter(isSent)
    const cookie = sentCookies.map(([name, value]) => `${name}=${value}`).join('; ')
    const own = { connection: 'close', 'x-forwarded-for': address }
    const sent = { ...own, ...(cookie ? { cookie } : {}), ...headers }
    const response = await fetch(url, { redirect: 'manual', headers: sent })
    for (const set of response.headers.getSetCookie()) store(host, jar, set)
    return response
  }
  /** Follows redirects until an address that matches, which is not visited, or until there is none. */
  const follow = async (url: string, until: RegExp): Promise<string> => {
    for (let at = url, from = url, hops = 0; hops < 12; hops++) {
      const location = (await visit(at, {}, from)).headers.get('location')
      if (location === null) return at
      from = at
      at = new URL(location, at).href
      if (until.test(at)) return at
    }
    throw new Error(`too many redirects from ${url}`)
  }
  const jarOf = (url: string) => cookies.get(new URL(url).host) ?? new Map<string, string>()
  return { visit, follow, jarOf }
}

export const OF_CONSOLE = { 'x-windlass-console': '1', 'sec-fetch-site': 'same-origin' }
