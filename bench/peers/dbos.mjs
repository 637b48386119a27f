import { prepare } from '../../scripts/bootstrap/data-dir.mjs'
import { startPostgres } from '../../scripts/stores/postgres.ts'
import { startPythonLoad } from './python-load.mjs'
import { versionOf } from './versions.mjs'

/**
 * DBOS: a library, so workflows, load and steps run in one Python process, on a PostgreSQL of its own with the
 * settings of ours. The load is part of its processor time.
 */
export async function startDbos({ processes, dir, tools }) {
  const postgres = await startPostgres(processes, prepare(`${dir}/dbos`))
  const app = await startPythonLoad(tools.python, ['dbos_app.py'], { DATABASE_URL: postgres.url })
  return {
    version: versionOf(tools.python, 'dbos'),
    pids: { 'dbos-postgres': postgres.child.pid, dbos: app.pid },
    processes: [postgres.child, app],
    load: app.load,
    close: app.close,
  }
}
