import pg from 'pg'
import { READ_ONLY, toOutageFault } from './outage.ts'

/*
 * URLs with several hosts, as libpq has them: `postgres://user:secret@a:5432,b:5432/name`, with
 * `?target_session_attrs=read-write` or without. The driver knows one host. Here each new connection goes
 * to the host that accepts writes, so that a promoted standby is found without a proxy:
 *
 * - The host is looked for once, at all hosts at the same time; of several that accept writes, the first
 *   in the URL is used. It is remembered until a connection to it fails or is lost.
 * - Each new connection is asked whether it is read-only: a host may have become a standby since.
 * - A host that does not answer within PROBE_MS is passed over.
 *
 * It is not found out which of two servers that accept writes is the right one: the old primary must be down
 * or unreachable before a standby is promoted.
 */

const PROBE_MS = 2_000
/**
 * Both values select servers that accept writes; `primary` refuses a standby, whose sessions are read-only.
 */
const ATTRIBUTES = new Set(['read-write', 'primary'])
const HOSTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s

/** Error of a server that accepts no writes; an outage until another one does. */
class ReadOnlyError extends Error {
  readonly code = READ_ONLY
}

/** Splits the URL of a database into one for each of its hosts, without `target_session_attrs`. Throws for other values of it. */
export function hostUrls(url: string): { urls: string[]; mustWrite: boolean } {
  const [, start, hosts = '', end = ''] = HOSTS.exec(url) ?? []
  if (start === undefined) return { urls: [url], mustWrite: false }
  const [path = '', query = ''] = end.split(/\?(.*)/s)
  const parameters = query.split('&').filter(Boolean)
  const isAttribute = (one: string) => one.startsWith('target_session_attrs=')
  const [attribute] = parameters.filter(isAttribute)
  const value = attribute?.split('=')[1] ?? ''
  if (attribute !== undefined && !ATTRIBUTES.has(value))
    throw new Error(
      `[svc.postgres].url: target_session_attrs is ${value}; it must be read-write or primary`,
    )
  const names = hosts.split(',')
  const rest = parameters.filter((one) => !isAttribute(one)).join('&')
  const ending = `${path}${rest && `?${rest}`}`
  return {
    urls: names.map((name) => `${start}${name}${ending}`),
    mustWrite: attribute !== undefined || names.length > 1,
  }
}

type Config = pg.ClientConfig & { connectionString: string }
type ClientClass = new (config?: pg.ClientConfig) => pg.Client

/** Returns what `pg.Client` and `pg.Pool` need for a URL: with several hosts a class that connects to the one that accepts writes. */
export function connectionTo(url: string): { connectionString: string; Client: ClientClass } {
  const { urls, mustWrite } = hostUrls(url)
  const [connectionString = url] = urls
  if (!mustWrite) return { connectionString, Client: pg.Client }
  return { connectionString, Client: clientOf(new WritableHost(urls)) }
}

/** Makes one client, not connected, for a URL with one host or several. */
export function clientFor(url: string, config: pg.ClientConfig = {}): pg.Client {
  const { connectionString, Client } = connectionTo(url)
  const client = new Client({ ...config, connectionString })
  // A lost connection rejects the running statement; without a handler its event would end the process.
  client.on('error', () => {})
  return client
}

interface Host {
  host: string
  port: number
}

/** Finds the host that accepts writes, and remembers it. */
class WritableHost {
  readonly #urls: readonly string[]
  #known: Promise<Host> | undefined

  constructor(urls: readonly string[]) {
    this.#urls = urls
  }

  /** Returns the host; rejects if none accepts writes. Connections that are opened at the same time share the search. */
  find(): Promise<Host> {
    if (this.#known) return this.#known
    const search = this.#search()
    this.#known = search
    search.catch(() => this.forget(search))
    return search
  }

  /** Lets the next connection look for the host again, unless another one has begun to. */
  forget(known: Promise<Host> | undefined): void {
    if (this.#known === known) this.#known = undefined
  }

  async #search(): Promise<Host> {
    const probes = this.#urls.map((url) => probe({ connectionString: url }))
    for (const one of probes) one.catch(() => {})
    const errors: unknown[] = []
    for (const one of probes)
      try {
        return await one
      } catch (error) {
        errors.push(error)
      }
    // A wrong password, for example, does not pass.
    throw errors.find((error) => !toOutageFault(error)) ?? errors[0]
  }
}

async function probe(config: Config): Promise<Host> {
  const client = new pg.Client({
    ...config,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await refuseReadOnly(client)
    return { host: client.host, port: client.port }
  } finally {
    client.end().catch(() => {})
  }
}

async function refuseReadOnly(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show transaction_read_only')
  if (rows[0]?.transaction_read_only === 'on')
    throw new ReadOnlyError(`PostgreSQL at ${client.host}:${client.port} accepts no writes`)
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void)

/** Makes a class of clients that connect to the host that accepts writes. */
function clientOf(hosts: WritableHost): ClientClass {
  return class extends pg.Client {
    override connect(): Promise<pg.Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<pg.Client> | undefined {
      const connecting = this.#open()
      if (!callback) return connecting
      const settle = callback as (error: Error | null, client?: pg.Client) => void
      connecting.then((client) => settle(null, client), settle)
      return undefined
    }

    async #open(): Promise<pg.Client> {
      const found = hosts.find()
      Object.assign(this, await found)
      this.once('error', () => hosts.forget(found))
      try {
        await super.connect()
        await refuseReadOnly(this)
        return this
      } catch (error) {
        hosts.forget(found)
        this.end().catch(() => {})
        throw error
      }
    }
  }
}
