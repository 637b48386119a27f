import { join } from 'node:path'
import { signalIfRunning } from '@windlass/runtime/process/pids'
import { query } from './database.ts'
import { type Defer, withTest } from './defer.ts'
import { freePort } from './ports.ts'
import { answers, loadScript, startPostgresIn, until } from './private-postgres.ts'

/**
 * Starts two private PostgreSQL servers, a primary and a synchronous standby: a commit is acknowledged when
 * both have it. `kill` ends the primary as a lost machine does, `promote` makes the standby the primary.
 */
export async function startReplicatedPostgres(defer: Defer = withTest) {
  const { url, child, dir, processes } = await startPostgresIn(defer, true)
  const { run } = await loadScript('setup/run.ts')
  const { program } = child
  const data = join(dir, 'postgres', 'standby')
  await run(
    join(program.command, '..', 'pg_basebackup'),
    [...['-d', url, '-D', data, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync']],
    { cwd: program.cwd, ...program.user },
  )
  const port = await freePort()
  const standby = new URL(url)
  standby.port = String(port)
  processes.start({
    ...program,
    name: 'standby',
    args: [
      '-D',
      data,
      ...program.args.slice(2).filter((one) => !one.startsWith('port=')),
      `port=${port}`,
    ],
  })
  await until('connections of the standby', () => answers(standby.href))
  await query(url, "alter system set synchronous_standby_names = '*'")
  await query(url, 'select pg_reload_conf()')
  const states = () =>
    query<{ sync_state: string }>(url, 'select sync_state from pg_stat_replication')
  await until('synchronous standby', async () =>
    (await states()).some(({ sync_state }) => sync_state === 'sync'),
  )
  return {
    /** URL of the primary at the start. */
    url,
    /** URL of the standby at the start. */
    standbyUrl: standby.href,
    /** Kills the primary and its sessions at the same time; it does not start again. */
    async kill() {
      // Without their postmaster, sessions would end at their next wait only.
      const all = await query<{ pid: number }>(url, 'select pid from pg_stat_activity')
      for (const pid of [child.pid, ...all.map((one) => one.pid)]) signalIfRunning(pid, 'SIGKILL')
      await child.exited
    },
    promote: () => query(standby.href, 'select pg_promote(true, 60)'),
  }
}

/** Adds the hosts of `others` to a URL of PostgreSQL, and the demand for one that accepts writes. */
export function withHosts(url: string, others: readonly string[]): string {
  const hosts = others.map((one) => new URL(one).host)
  const { host, pathname, protocol, username, password } = new URL(url)
  const all = [host, ...hosts].join(',')
  return `${protocol}//${username}:${password}@${all}${pathname}?target_session_attrs=read-write`
}
