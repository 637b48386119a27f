import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { loadSettingsOrExit } from '@windlass/runtime/config/load-settings'
import { openDb } from '@windlass/runtime/postgres/db'
import { describeFailure } from '@windlass/runtime/postgres/describe-failure'
import { createAdminKey } from './engine/admin-key.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { name: { type: 'string' }, days: { type: 'string' } },
})
const { postgres, security } = loadSettingsOrExit()
const db = openDb(postgres.url, 'identity', { maxConnections: 2 })
try {
  const days = values.days ?? '0'
  if (!/^\d{1,5}$/.test(days)) throw new Error('--days must be a whole number')
  const key = await createAdminKey(
    db,
    {
      subject: positionals[0] ?? 'admin',
      name: values.name ?? `admin-${randomBytes(4).toString('hex')}`,
      days: Number(days),
    },
    security.auth.api_keys,
  )
  process.stdout.write(`${key}\n`)
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`)
  process.exitCode = 1
} finally {
  await db.close()
}
