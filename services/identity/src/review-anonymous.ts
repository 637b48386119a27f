import { parseArgs } from 'node:util'
import { loadSettingsOrExit } from '@windlass/runtime/config/load-settings'
import { openDb } from '@windlass/runtime/postgres/db'
import { describeFailure } from '@windlass/runtime/postgres/describe-failure'
import { decideAnonymous, describeChange } from './engine/anonymous-review.ts'
import { listUndecided } from './store/anonymous-changes.ts'

const USAGE = 'use: list, confirm OBJECT, revoke OBJECT; --all in place of OBJECT for all'
const DECISIONS: Record<string, 'confirmed' | 'revoked'> = {
  confirm: 'confirmed',
  revoke: 'revoked',
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false } },
})
const [action = 'list', object] = positionals
const db = openDb(loadSettingsOrExit().postgres.url, 'identity', { maxConnections: 2 })
const print = (lines: readonly string[]) =>
  process.stdout.write(lines.map((l) => `${l}\n`).join(''))
try {
  const decision = DECISIONS[action]
  if (action === 'list' && object === undefined)
    print((await listUndecided(db)).map(describeChange))
  else if (decision === undefined || (object === undefined) !== values.all) throw new Error(USAGE)
  else {
    const decided = await decideAnonymous(db, decision, object)
    print(decided.map((name) => `${decision}: ${name}`))
  }
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`)
  process.exitCode = 1
} finally {
  await db.close()
}
