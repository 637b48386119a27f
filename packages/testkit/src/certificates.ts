import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Defer, withTest } from './defer.ts'
import { temporaryFolder } from './folder.ts'

const YEAR_MS = 365 * 24 * 3_600_000

/** Encodes one DER value: tag, length, content (ITU-T X.690). */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const utf8 = (text: string) => der(0x0c, Buffer.from(text))
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (ms: number) =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))

const COMMON_NAME = oid('550403')
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))
const SUBJECT_ALT_NAME = oid('551d11')
const BASIC_CONSTRAINTS = oid('551d13')
const TRUE = der(0x01, Buffer.from([0xff]))

const nameOf = (text: string) => sequence(der(0x31, sequence(COMMON_NAME, utf8(text))))
const extension = (id: Buffer, value: Buffer, ...critical: Buffer[]) =>
  sequence(id, ...critical, der(0x04, value))

interface Issuer {
  name: string
  key: KeyObject
}

/** Issues an X.509 certificate as PEM, for an authority or for a server with this DNS name on loopback. */
function certify(
  name: string,
  publicKey: KeyObject,
  issuer: Issuer,
  { isAuthority = false, validMs = YEAR_MS } = {},
): string {
  const now = Date.now()
  const serial = der(0x02, Buffer.from([1]), randomBytes(8))
  const extensions = isAuthority
    ? extension(BASIC_CONSTRAINTS, sequence(TRUE), TRUE)
    : extension(
        SUBJECT_ALT_NAME,
        sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1]))),
      )
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    serial,
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    sequence(time(now - 60_000), time(now + validMs)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extensions)),
  )
  const signature = createSign('SHA256').update(body).sign(issuer.key)
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature))
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** Creates an authority and a server certificate for `windlass`, as PEM and as files for settings. */
export async function certificates(defer: Defer = withTest) {
  const authority = pair()
  const server = pair()
  const issuer = { name: 'test authority', key: authority.privateKey }
  const pem = {
    ca: certify(issuer.name, authority.publicKey, issuer, { isAuthority: true }),
    cert: certify('windlass', server.publicKey, issuer),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
  const folder = temporaryFolder('tls', defer)
  const files = { ca: join(folder, 'ca'), cert: join(folder, 'cert'), key: join(folder, 'key') }
  for (const name of ['ca', 'cert', 'key'] as const)
    await writeFile(files[name], pem[name], { mode: 0o600 })
  return {
    env: {
      SVC_RPC__TLS_CA: files.ca,
      SVC_RPC__TLS_CERT: files.cert,
      SVC_RPC__TLS_KEY: files.key,
    },
    tls: {
      ca: Buffer.from(pem.ca),
      cert: Buffer.from(pem.cert),
      key: Buffer.from(pem.key),
      serverName: 'windlass',
    },
  }
}

/** Creates an authority that issues certificates for servers on loopback and for clients, as files. */
export async function createAuthority(defer: Defer = withTest) {
  const authority = pair()
  const issuer = { name: 'test authority', key: authority.privateKey }
  const folder = temporaryFolder('authority', defer)
  const caFile = join(folder, 'ca.pem')
  const ca = certify(issuer.name, authority.publicKey, issuer, { isAuthority: true })
  await writeFile(caFile, ca)
  return {
    ca,
    caFile,
    /** Issues a certificate; a name that was issued before is replaced in its files. A negative time has passed. */
    async issue(name: string, validMs = YEAR_MS) {
      const subject = pair()
      const cert = certify(name, subject.publicKey, issuer, { validMs })
      const key = subject.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      const files = { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}.key`) }
      await writeFile(files.keyFile, key, { mode: 0o600 })
      await writeFile(files.certFile, cert)
      return { ...files, cert, key }
    },
  }
}
