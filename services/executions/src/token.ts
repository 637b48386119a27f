import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '@windlass/runtime/settings'
import { SignJWT } from 'jose'
import type { Execution } from './domain/execution.ts'

const LIFETIME = '1h'
const ISSUER = 'windlass'

/** Mints the token under which a worker acts for one execution, as of one generation. */
export type Mint = (execution: Execution) => Promise<string>

export async function minter(secret: Uint8Array): Promise<Mint> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  // Imported once: signing with the bare secret would do it for every token.
  const key = await crypto.subtle.importKey('raw', new Uint8Array(secret), algorithm, false, [
    'sign',
  ])
  return (execution) =>
    new SignJWT({
      exec_id: execution.execution_id,
      worker: execution.held_by ?? '',
      generation: execution.claim_generation,
      scope: 'execution',
    })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setIssuedAt()
      .setExpirationTime(LIFETIME)
      .sign(key)
}

/** The configured secret, else one made at the first start and kept in the home directory. */
export async function executionTokenSecret({ security, home }: Settings): Promise<Uint8Array> {
  if (security.execution_token_secret) return Buffer.from(security.execution_token_secret)
  const path = join(home, 'execution-token-secret')
  await mkdir(home, { recursive: true, mode: 0o700 })
  try {
    // Exclusive: of replicas that start at once, one makes it and the others read it.
    await writeFile(path, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return Buffer.from((await readFile(path, 'utf8')).trim())
}
