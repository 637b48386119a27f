import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type Server } from 'node:tls'
import { certificateExpiry } from '../metrics/metrics.ts'
import { Problem } from '../problems.ts'
import type { Logger } from '../process/log.ts'

/** Interval in which the files are compared; a change is used by new connections. */
const RELOAD_MS = 2_000
/** A connection that has not finished its TLS handshake by then is closed. */
const HANDSHAKE_MS = 10_000

interface ServerTlsSettings {
  tls_cert?: string | undefined
  tls_key?: string | undefined
  client_ca?: string | undefined
}

interface Certificates {
  cert: Buffer
  key: Buffer
  /** Authority of client certificates. */
  ca?: Buffer
}

/** TLS of one listener, from the files of a settings table. */
export interface ServerTls {
  /** Options of `https.createServer`. A missing client certificate is refused by the routes that need one. */
  readonly options: Certificates & {
    requestCert: boolean
    rejectUnauthorized: boolean
    handshakeTimeout: number
  }
  /** Uses changed files for new connections; invalid ones are logged and ignored. Answers `stop`. */
  reloadOnChange(server: Pick<Server, 'setSecureContext'>, log: Logger): () => void
  /** Rejects while the certificate has expired. */
  check(): Promise<void>
}

/** Reads the files of `table`; undefined without any. Throws for a partial set and for files that do not belong together. */
export async function readServerTls(
  table: string,
  settings: ServerTlsSettings,
): Promise<ServerTls | undefined> {
  const { tls_cert, tls_key, client_ca } = settings
  if (!tls_cert && !tls_key && !client_ca) return undefined
  if (!tls_cert || !tls_key)
    throw new Error(`${table} needs both tls_cert and tls_key${client_ca ? ' for client_ca' : ''}`)
  const read = () => readCertificates(tls_cert, tls_key, client_ca)
  let current = await read().catch((error: Error) => {
    throw new Error(`${table}: ${error.message}`, { cause: error })
  })
  const options = {
    ...current,
    requestCert: client_ca !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  }
  const reload = async (server: Pick<Server, 'setSecureContext'>, log: Logger) => {
    try {
      const next = await read()
      if (isEqual(current, next)) return
      server.setSecureContext(next)
      current = next
      log.info({ table }, 'certificates reloaded')
    } catch (error) {
      log.error({ err: error, table }, 'failed to reload certificates')
    }
  }
  const expired = () =>
    expiryOf(current.cert) * 1_000 < Date.now()
      ? `the certificate of ${table} has expired: replace the files, they are read again`
      : undefined
  return {
    options,
    async check() {
      const text = expired()
      if (text !== undefined) throw new Error(text)
    },
    reloadOnChange(server, log) {
      const problem = new Problem('certificate', log)
      problem.set(expired())
      const timer = setInterval(
        () => void reload(server, log).finally(() => problem.set(expired())),
        RELOAD_MS,
      )
      const stopObserving = certificateExpiry.observe((report) =>
        report(expiryOf(current.cert), { listener: table }),
      )
      return () => {
        clearInterval(timer)
        stopObserving()
        problem.close()
      }
    },
  }
}

/** Seconds since 1970. */
const expiryOf = (cert: Buffer): number => Date.parse(new X509Certificate(cert).validTo) / 1_000

async function readCertificates(
  certFile: string,
  keyFile: string,
  caFile: string | undefined,
): Promise<Certificates> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile),
    readFile(keyFile),
    caFile === undefined ? undefined : readFile(caFile),
  ])
  // Throws unless the key belongs to the certificate.
  createSecureContext({ cert, key, ca })
  if (ca) new X509Certificate(ca)
  return { cert, key, ...(ca && { ca }) }
}

const isEqual = (a: Certificates, b: Certificates): boolean =>
  a.cert.equals(b.cert) &&
  a.key.equals(b.key) &&
  (a.ca === b.ca || (a.ca !== undefined && b.ca !== undefined && a.ca.equals(b.ca)))
