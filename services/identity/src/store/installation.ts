import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

interface KeyDerivation {
  key_salt: Buffer
  /** False: new values are encrypted under keys of the fixed salt. */
  uses_key_salt: boolean
}

export async function readKeyDerivation(db: Queries): Promise<KeyDerivation> {
  const row = await db.maybe<KeyDerivation>(sql`select key_salt, uses_key_salt from installation`)
  if (!row)
    throw new Error('the salt of the encryption keys is missing: restore identity.installation')
  return row
}

/** Never undone: from now on new values are encrypted under keys of the installation's salt. */
export const useKeySalt = (db: Queries) =>
  db.run(sql`update installation set uses_key_salt = true where not uses_key_salt`)

/** Returns the policy of secrets of an installation whose settings name none. */
export async function readSecretsPolicy(db: Queries): Promise<'declared' | 'scoped'> {
  const row = await db.maybe<{ secrets_policy: 'declared' | 'scoped' }>(
    sql`select secrets_policy from installation`,
  )
  return row?.secrets_policy ?? 'scoped'
}
