import { execFile } from 'node:child_process'
import { appendFile, chown, mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { query } from '@windlass/testkit/database'
import { startPrivatePostgres } from '@windlass/testkit/private-postgres'
import { expect } from 'vitest'

const run = promisify(execFile)
const WAIT = { timeout: 60_000, interval: 100 }

/** A private PostgreSQL that archives its write-ahead log, as docs/backup.md sets it up. */
export async function startArchivedPostgres() {
  const postgres = await startPrivatePostgres()
  const { url, home, bin } = postgres
  const [data, base, wal] = ['data', 'base', 'wal'].map((name) => join(home, name))
  if (!data || !base || !wal) throw new Error('no folders')
  const owner = await stat(data)
  const give = (path: string) => chown(path, owner.uid, owner.gid)

  await mkdir(wal)
  await give(wal)
  await query(url, 'alter system set archive_mode = on')
  await query(url, `alter system set archive_command = 'test ! -f ${wal}/%f && cp %p ${wal}/%f'`)
  await postgres.restart('SIGINT', 0)

  const isRecovering = async () =>
    (await query<{ is: boolean }>(url, 'select pg_is_in_recovery() as is'))[0]?.is

  return {
    url,
    /** The clock of the server. */
    async now(): Promise<string> {
      const [row] = await query<{ now: string }>(url, 'select clock_timestamp()::text as now')
      return row?.now ?? ''
    },
    async backUp(): Promise<void> {
      const how = ['--format=tar', '--gzip', '--wal-method=stream', '--checkpoint=fast']
      await run(join(bin, 'pg_basebackup'), [`--pgdata=${base}`, `--dbname=${url}`, ...how])
    },
    /** Waits until everything that is committed is in the archive. */
    async archive(): Promise<void> {
      const [row] = await query<{ file: string }>(
        url,
        'select pg_walfile_name(pg_current_wal_insert_lsn()) as file, pg_switch_wal()',
      )
      const archived = () =>
        query<{ is: boolean }>(
          url,
          `select last_archived_wal >= '${row?.file}' as is from pg_stat_archiver`,
        )
      await expect.poll(archived, WAIT).toEqual([{ is: true }])
    },
    /** Replaces the database by the backup, with the archived log up to a time. */
    async restoreTo(time: string): Promise<void> {
      await postgres.restart('SIGINT', 0, async () => {
        await rename(data, join(home, 'lost'))
        await mkdir(data, { mode: 0o700 })
        await run('tar', ['-xzpf', join(base, 'base.tar.gz'), '-C', data])
        await run('tar', ['-xzpf', join(base, 'pg_wal.tar.gz'), '-C', join(data, 'pg_wal')])
        const settings = {
          restore_command: `cp ${wal}/%f %p`,
          recovery_target_time: time,
          recovery_target_action: 'promote',
        }
        for (const [name, value] of Object.entries(settings))
          await appendFile(join(data, 'postgresql.auto.conf'), `${name} = '${value}'\n`)
        await writeFile(join(data, 'recovery.signal'), '')
        await run('chown', ['-R', `${owner.uid}:${owner.gid}`, data])
      })
      await expect.poll(isRecovering, WAIT).toBe(false)
    },
  }
}
