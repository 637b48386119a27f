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
