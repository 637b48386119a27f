import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { keysOf, RPC_SERVICES } from '../../packages/rpc/src/pair-keys.ts'
import { natsUsers } from '../stores/nats-config.ts'
import { redisUsers } from '../stores/redis-users.ts'

const compose = readFileSync(new URL('../../deploy/compose.yml', import.meta.url), 'utf8')
const SECRETS = fileURLToPath(new URL('../../deploy/secrets.sh', import.meta.url))
const env = (store: string) => (service: string) => `of ${store} ${service}`

/** The content of a file that compose makes, with its passwords put in, as compose does it. */
function contentOf(name: string): string {
  const [, content = ''] =
    new RegExp(`^  ${name}:\\n    content: \\|\\n((?:      .*\\n)+)`, 'm').exec(compose) ?? []
  return content
    .replace(/^ {6}/gm, '')
    .replace(
      /(?<!\$)\$\{WINDLASS_(\w+?)_(\w+)_PASSWORD:\?run deploy\/secrets\.sh\}/g,
      (_, store, service) => env(store)(service.toLowerCase()),
    )
    .replaceAll('$$', '$')
}

/** Programs that are in every image of a server, since they are part of it. */
const OWN_PROGRAMS: Record<string, string[]> = {
  postgres: ['pg_isready'],
  redis: ['redis-cli'],
  nats: [],
}

test.each(Object.keys(OWN_PROGRAMS))(
  'the health check of %s: uses no shell and no program that its image may lack',
  (name) => {
    const [, service = ''] =
      new RegExp(`^  ${name}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(compose) ?? []
    expect(service).toContain('image: ')
    const [, kind, program] = /^ {6}test: \[([\w-]+), "?([\w-]+)/m.exec(service) ?? []
    expect([undefined, ...(OWN_PROGRAMS[name] ?? [])]).toContain(program)
    expect([undefined, 'CMD']).toContain(kind)
  },
)

test.each([
  ['nats', natsUsers(env('NATS'))],
  ['redis', redisUsers(env('REDIS'))],
])('the users of %s in compose.yml are those of npm start', (name, users) => {
  const lines = contentOf(name)
    .split('\n')
    .map((line) => line.trim())
  const theirs = lines.filter((line) => /^(\{ )?user/.test(line) && !/user: windlass,/.test(line))
  expect(theirs).toEqual(users)
})

/** The variables that `deploy/secrets.sh` writes to a file of its own. */
function makeSecrets(file: string): Map<string, string> {
  const { status, stderr } = spawnSync('sh', [SECRETS, file], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return new Map(lines.map((line) => line.split('=', 2) as [string, string]))
}

function secretsFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'windlass-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return path.join(folder, '.env')
}

test('a second run of secrets.sh: keeps what is there and adds what is missing', () => {
  const file = secretsFile()
  writeFileSync(file, 'WINDLASS_REDIS_PASSWORD=mine\n')
  const first = makeSecrets(file)
  expect(first.get('WINDLASS_REDIS_PASSWORD')).toBe('mine')
  expect(makeSecrets(file)).toEqual(first)
  expect(statSync(file).mode & 0o077).toBe(0)
})

test('secrets.sh: makes each variable of compose.yml without a default, each with a value of its own', () => {
  const made = makeSecrets(secretsFile())
  const needed = [...compose.matchAll(/(?<!\$)\$\{(WINDLASS_\w+)(?::\?[^}]*)?\}/g)].map(
    ([, name]) => name,
  )
  expect([...made.keys()].sort()).toEqual([...new Set(needed), 'COMPOSE_PROFILES'].sort())
  expect(new Set(made.values()).size).toBe(made.size)
})

test('each service in compose.yml: gets the keys of its own pairs', () => {
  const found = [...compose.matchAll(/SVC_RPC__KEYS: "([^"]+)"/g)].map(([, keys = '']) =>
    keys.split(',').map((key) => /(\w+:\w+):\$\{WINDLASS_KEY_\w+\}/.exec(key)?.[1]),
  )
  const wanted = RPC_SERVICES.map((service) =>
    keysOf('any secret', service).map((key) => key.slice(0, key.lastIndexOf(':'))),
  )
  expect(found.map((pairs) => pairs.sort().join()).sort()).toEqual(
    wanted.map((pairs) => pairs.sort().join()).sort(),
  )
})
