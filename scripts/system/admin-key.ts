import { existsSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { run } from '../setup/run.ts'
import { keepSecret } from '../setup/secrets.ts'
import type { Infra } from '../stores/store.ts'
import { generalEnv } from './environment.ts'

const PROGRAM = 'services/identity/dist/create-admin-key.js'
const CREATED = 'admin-key-created' // holds no secret; the key itself is stored nowhere

/** Creates the first administrator's key of a data directory; undefined at every later start. */
export async function createFirstAdminKey({
  dir,
  infra,
}: {
  dir: string
  infra: Infra
}): Promise<string | undefined> {
  if (existsSync(path.join(dir, 'secrets', CREATED))) return undefined
  const env = { ...generalEnv(), SVC_CONFIG: '/dev/null', SVC_POSTGRES__URL: infra.postgres.url }
  const key = await run(process.execPath, [path.join(PROJECT, PROGRAM)], { cwd: PROJECT, env })
  keepSecret(dir, CREATED, `${new Date().toISOString()}\n`)
  return key
}
