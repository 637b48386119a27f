// The program behind `windlass archive show|restore`: reads the archive and writes directly to the
// database.
import { parseArgs } from 'node:util'
import { loadSettingsOrExit } from '@windlass/runtime/config/load-settings'
import { openObjectStore } from '@windlass/runtime/object-store/open-object-store'
import { openDb } from '@windlass/runtime/postgres/db'
import { restoreFromArchive, showArchived } from './engine/archive-commands.ts'

const { positionals, values } = parseArgs({
  options: { day: { type: 'string' } },
  allowPositionals: true,
})
const [command, ...ids] = positionals
const { archive, postgres } = loadSettingsOrExit()
const write = (text: string) => void process.stdout.write(`${text}\n`)
try {
  if (archive.url === '') throw new Error('[svc.archive].url is not set: there is no archive')
  const objects = await openObjectStore(archive)
  try {
    if (command === 'show') for (const id of ids) await showArchived(objects, id, write)
    else {
      const db = openDb(postgres.url, 'executions', { maxConnections: 2 })
      await restoreFromArchive({ db, objects, write }, { ids, day: values.day }).finally(() =>
        db.close(),
      )
    }
  } finally {
    objects.close()
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
