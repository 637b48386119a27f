import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { emptyDatabase, query, testUrl } from './database.ts'
import { temporaryFolder } from './folder.ts'
import { loadScript } from './private-postgres.ts'

const PAGE = new URL('../../../docs/backup.md', import.meta.url)

/** Dumps a database and restores it into an empty one by the commands of docs/backup.md. Returns the URL of the second. */
export async function dumpAndRestore(url: string): Promise<string> {
  const page = readFileSync(PAGE, 'utf8')
  const [dump = ''] = /^pg_dump .+$/m.exec(page) ?? []
  const [, restore = ''] = /`(pg_restore [^`]+)`/.exec(page) ?? []
  const folder = temporaryFolder('dump')
  const restored = await emptyDatabase()
  await runDocumented(dump, url, folder)
  await runDocumented(restore, restored, folder)
  return restored
}

async function runDocumented(command: string, database: string, cwd: string): Promise<void> {
  if (!command.includes('"$SVC_POSTGRES__ADMIN_URL"'))
    throw new Error(`docs/backup.md has no such command: ${command}`)
  const env = { PATH: await programPath(), SVC_POSTGRES__ADMIN_URL: database }
  await promisify(execFile)('sh', ['-eu', '-c', command], { cwd, env })
}

/** The programs of the newest PostgreSQL that is installed come first. */
async function programPath(): Promise<string> {
  const { postgresFolders } = await loadScript('setup/programs.ts')
  return [...postgresFolders(), process.env.PATH].join(':')
}

/** The reason why the installed pg_dump cannot read the server, which is newer in a container; undefined if it can. */
export async function dumpObstacle(): Promise<string | undefined> {
  const [{ major } = { major: 0 }] = await query<{ major: number }>(
    testUrl('TEST_POSTGRES_URL'),
    `select current_setting('server_version_num')::int / 10000 as major`,
  )
  const env = { PATH: await programPath() }
  const version = await promisify(execFile)('pg_dump', ['--version'], { env }).catch(
    () => undefined,
  )
  const [, installed] = / (\d+)/.exec(version?.stdout ?? '') ?? []
  if (Number(installed ?? 0) >= major) return undefined
  return `pg_dump ${installed ?? 'is missing'}; the server is ${major}`
}
