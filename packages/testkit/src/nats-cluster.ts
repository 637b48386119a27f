import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Defer, withTest } from './defer.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './ports.ts'
import { Process } from './process.ts'

const NODES = 3

interface Report {
  account_details?: { stream_detail?: StreamDetail[] }[]
}

interface StreamDetail {
  name: string
  cluster?: { leader?: string; replicas?: { name: string; current: boolean; offline?: boolean }[] }
}

/** Starts a NATS cluster of three servers with JetStream; a test can kill, wipe and restart each. */
export async function startNatsCluster(defer: Defer = withTest) {
  const store = temporaryFolder('nats-cluster', defer)
  const ports = await Promise.all(Array.from({ length: NODES }, () => freePort()))
  const monitors = await Promise.all(ports.map(() => freePort()))
  const routes = await Promise.all(ports.map(() => freePort()))
  const folder = (n: number) => join(store, `n${n}`)
  const servers = ports.map(
    (port, n) =>
      new Process({
        name: `nats-${n}`,
        command: 'nats-server',
        args: [
          ...['-a', '127.0.0.1', '-p', String(port), '-m', String(monitors[n]), '-n', `n${n}`],
          ...['-js', '-sd', folder(n), '--cluster_name', 'test'],
          ...['--cluster', `nats://127.0.0.1:${routes[n]}`],
          ...['--routes', routes.map((route) => `nats://127.0.0.1:${route}`).join(',')],
        ],
        env: {},
        ready: /Server is ready/,
      }),
  )
  defer(() => Promise.all(servers.map((server) => server.end('SIGKILL'))))
  await Promise.all(servers.map((server) => server.start()))

  /** Reads the streams as the n-th server knows them; none if it does not answer. */
  const streams = async (n: number): Promise<StreamDetail[]> => {
    try {
      const url = `http://127.0.0.1:${monitors[n]}/jsz?streams=true&accounts=true`
      const report = (await (await fetch(url)).json()) as Report
      return (report.account_details ?? []).flatMap((one) => one.stream_detail ?? [])
    } catch {
      return []
    }
  }
  const server = (n: number) => servers[n] as Process
  return {
    url: ports.map((port) => `nats://127.0.0.1:${port}`).join(','),
    start: (n: number) => server(n).start(),
    kill: (n: number) => server(n).end('SIGKILL'),
    /** Deletes the store of a server; only while it is not running. */
    wipe: (n: number) => rm(folder(n), { recursive: true, force: true }),
    /** Returns the number of the server that leads the stream of events; undefined while there is none. */
    async leader(): Promise<number | undefined> {
      const known = (await Promise.all(servers.map((_, n) => streams(n)))).flat()
      const name = known.find(({ cluster }) => cluster?.leader)?.cluster?.leader
      return name === undefined ? undefined : Number(name.slice(1))
    },
    /** True if all copies of each stream are complete, and there are three of each. */
    async isComplete(): Promise<boolean> {
      const leader = await this.leader()
      const known = leader === undefined ? [] : await streams(leader)
      return (
        known.length > 0 &&
        known.every(({ cluster }) => {
          const others = cluster?.replicas ?? []
          return (
            others.length === NODES - 1 &&
            others.every(({ current, offline }) => current && !offline)
          )
        })
      )
    },
  }
}
