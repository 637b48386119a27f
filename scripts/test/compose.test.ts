import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { natsUsers } from '../stores/nats-config.ts'
import { redisUsers } from '../stores/redis-users.ts'

const compose = readFileSync(new URL('../../deploy/compose.yml', import.meta.url), 'utf8')
const env = (store: string) => (service: string) => `of ${store} ${service}`

/** The content of a file that compose makes, with its passwords put in, as compose does it. */
function contentOf(name: string): string {
  const [, content = ''] =
    new RegExp(`^  ${name}:\\n    content: \\|\\n((?:      .*\\n)+)`, 'm').exec(compose) ?? []
  return content
    .replace(/^ {6}/gm, '')
    .replace(/(?<!\$)\$\{WINDLASS_(\w+?)_(\w+)_PASSWORD:\?set a password\}/g, (_, store, service) =>
      env(store)(service.toLowerCase()),
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
