import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { withTest } from '@windlass/testkit/defer'
import { temporaryFolder } from '@windlass/testkit/folder'
import { freePort } from '@windlass/testkit/ports'
import { startPrivatePostgres } from '@windlass/testkit/private-postgres'
import { Process } from '@windlass/testkit/process'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { installedWheel } from './installed-wheel.ts'
import { readVariables } from './systemd-units.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
/** Folders that the page writes to, and that a system has. */
const SYSTEM_FOLDERS = [
  'opt',
  'usr/bin',
  'etc/systemd/system',
  'etc/sysusers.d',
  'var/lib/windlass-worker',
]
/** Programs that need rights, download something or are replaced by the test: they only record their arguments. */
const RECORDED = ['chown', 'npm', 'systemctl', 'systemd-run', 'systemd-sysusers']
/** Ports of the page, which may be in use on this machine. */
const PORTS = /\b(8000|8080|90[01]\d|910\d)\b/g

/** A folder that stands for `/` in the commands of docs/hosts.md, and one in which they run. */
export async function openHost() {
  const folder = temporaryFolder('host')
  const root = path.join(folder, 'root')
  for (const name of SYSTEM_FOLDERS) mkdirSync(path.join(root, name), { recursive: true })
  symlinkSync(process.execPath, path.join(root, 'usr/bin/node'))
  const work = path.join(folder, 'work')
  mkdirSync(work)
  cpSync(path.join(PROJECT, 'deploy'), path.join(work, 'deploy'), { recursive: true })
  for (const name of ['node_modules', 'scripts', 'sdk'])
    symlinkSync(path.join(PROJECT, name), path.join(work, name))
  const record = path.join(folder, 'record')
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  const python = await installedWheel(withTest)
  writePrograms(bin, record, path.dirname(path.dirname(python)))
  const ports = new Map<string, number>()

  return {
    root,
    work,
    portOf: (port: number) => ports.get(String(port)) ?? port,
    /** Runs a block; answers the recorded commands. */
    runBlock(text: string): string[][] {
      writeFileSync(record, '')
      const { status, stderr } = spawnSync('sh', ['-eu', '-c', belowRoot(root, text)], {
        cwd: work,
        encoding: 'utf8',
        env: { PATH: `${bin}:${path.dirname(process.execPath)}:${process.env.PATH}` },
      })
      if (status !== 0) throw new Error(`${text}\nended with ${status}: ${stderr}`)
      const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean)
      return lines.map((line) => line.split('\u001f').slice(0, -1))
    },
    /** Changes what was installed: folders below the root, and free ports. */
    async adapt(): Promise<void> {
      for (const name of ['etc/windlass', 'etc/systemd/system']) {
        const files = path.join(root, name)
        if (!existsSync(files)) continue
        for (const file of readdirSync(files)) await adaptFile(path.join(files, file), root, ports)
      }
    },
  }
}

/** Writes the text with paths below the root instead of those of the system. */
const belowRoot = (root: string, text: string) =>
  text.replace(/(?<![\w.])\/(?=(opt|etc|var\/lib|usr\/bin)\/)/g, `${root}/`)

async function adaptFile(file: string, root: string, ports: Map<string, number>): Promise<void> {
  const text = readFileSync(file, 'utf8')
  for (const [port] of text.matchAll(PORTS)) if (!ports.has(port)) ports.set(port, await freePort())
  const changed = belowRoot(root, text).replace(PORTS, (port) => String(ports.get(port)))
  if (changed !== text) writeFileSync(file, changed)
}

/** `venv` is what `python3 -m venv` makes, with the packages of the worker. */
function writePrograms(bin: string, record: string, venv: string): void {
  const write = (file: string, ...lines: string[]) => {
    writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`)
    chmodSync(file, 0o755)
  }
  const recording = (name: string) => `{ printf '%s\\037' ${name} "$@"; echo; } >>"${record}"`
  for (const name of RECORDED) write(path.join(bin, name), recording(name))
  write(
    path.join(bin, 'node'),
    `if [ "$1" = scripts/setup.mjs ]; then ${recording('node')}; else exec ${process.execPath} "$@"; fi`,
  )
  write(
    path.join(bin, 'python3'),
    '[ "$1 $2" = "-m venv" ]',
    `mkdir -p "$(dirname "$3")" && ln -s ${venv} "$3"`,
  )
  write(path.join(venv, 'bin/pip'), recording('pip'))
}

/** PostgreSQL with the role of the page, and NATS and Redis with the users that its commands have written. */
export async function startStores({ work, root }: { work: string; root: string }) {
  const postgres = await startPrivatePostgres()
  const [nats, redis] = [await freePort(), await freePort()]
  const { host } = new URL(postgres.url)
  const started = new Set<string>()
  const startOnce = async (file: string, start: () => Promise<unknown>) => {
    if (started.has(file) || !existsSync(path.join(work, file))) return
    started.add(file)
    await start()
  }
  return {
    replaceIn: (text: string) =>
      text
        .replaceAll('db.example:5432', host)
        .replaceAll('nats.example:4222', `127.0.0.1:${nats}`)
        .replaceAll('redis.example:6379', `127.0.0.1:${redis}`),
    /** Starts those whose files exist by now. */
    async startWhenConfigured(sql: string): Promise<void> {
      await startOnce('windlass.env', () => createDatabase(postgres.url, work, sql))
      await startOnce('windlass-users-nats.conf', () => startNats(work, root, nats))
      await startOnce('windlass-users-redis.conf', () => startRedis(work, redis))
    },
  }
}

/** The administrator of the server and its database get other names: the page creates both with these. */
async function createDatabase(url: string, work: string, sql: string): Promise<void> {
  const secrets = readVariables(path.join(work, 'windlass.env'))
  const admin = new URL(url)
  await runStatements(url, "create role other superuser login password 'other'")
  const { username } = admin
  admin.username = admin.password = 'other'
  admin.pathname = 'postgres'
  await runStatements(admin.href, `alter role ${username} rename to renamed`)
  await runStatements(admin.href, 'alter database windlass rename to renamed')
  const password = secrets.WINDLASS_POSTGRES_PASSWORD ?? ''
  await runStatements(admin.href, sql.replace('WINDLASS_POSTGRES_PASSWORD', password))
}

async function runStatements(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of sql.split(';')) if (statement.trim()) await client.query(statement)
  } finally {
    await client.end()
  }
}

async function startNats(work: string, root: string, port: number): Promise<void> {
  const file = path.join(work, 'nats.conf')
  const store = `jetstream { store_dir: ${JSON.stringify(path.join(root, 'jetstream'))} }`
  writeFileSync(file, `listen: 127.0.0.1:${port}\n${store}\ninclude windlass-users-nats.conf\n`)
  await startServer('nats-server', ['--config', file], /Server is ready/)
}

async function startRedis(work: string, port: number): Promise<void> {
  const file = path.join(work, 'redis.conf')
  const users = `include ${path.join(work, 'windlass-users-redis.conf')}`
  writeFileSync(file, `bind 127.0.0.1\nport ${port}\nsave ""\nappendonly no\n${users}\n`)
  await startServer('redis-server', [file], /Ready to accept connections/)
}

async function startServer(command: string, args: string[], ready: RegExp): Promise<void> {
  const server = new Process({ name: command, command, args, env: {}, ready })
  onTestFinished(() => server.end('SIGKILL'))
  await server.start()
}
