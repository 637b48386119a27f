import { expect, test } from 'vitest'
import { createWriter } from '../src/terminal-text.ts'
import { cliFixture } from './cli-fixture.ts'

const CLEAR = '\u001b[2J'
const HOSTILE = `a${CLEAR}\u009b31mb\r\u202ec\u007f`
const HARMLESS = 'a\\u001b[2J\\u009b31mb\\u000d\\u202ec\\u007f'

test('control characters of a table: escaped, each row stays on one line', async () => {
  const { api, windlass } = await cliFixture()
  const row = { name: `${HOSTILE}\nd\te`, namespace: 'x', version: 1 }
  api.answers.set('GET /workflows', { body: JSON.stringify([row]) })
  const { out } = await windlass('workflow', 'list')
  expect(out.split('\n')).toHaveLength(3)
  expect(out).toContain(`${HARMLESS}\\u000ad\\u0009e`)
})

test('control characters of lists and of messages: escaped', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /admin/secrets', { body: JSON.stringify([HOSTILE]) })
  expect((await windlass('secret', 'list')).out).toBe(`${HARMLESS}\n`)
  const entry = { name: HOSTILE, namespaces: [HOSTILE], workflows: null, version: 1 }
  api.answers.set('GET /admin/secrets?detailed=true', { body: JSON.stringify([entry]) })
  expect((await windlass('secret', 'list', '--detailed')).out).not.toContain('\u001b')
  api.answers.set('DELETE /admin/secrets/a', { body: JSON.stringify({ message: HOSTILE }) })
  expect((await windlass('secret', 'delete', 'a')).out).toBe(`${HARMLESS}\n`)
})

test('control characters of an error of the server: escaped', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /workflows', { status: 403, body: JSON.stringify({ detail: HOSTILE }) })
  const { err } = await windlass('workflow', 'list')
  expect(err).toContain(HARMLESS)
  expect(err).not.toContain(CLEAR)
})

test('an answer to a terminal: JSON of the same value without control characters', () => {
  const value = { text: '\u009b31m\u202e\u007f', n: 1 }
  const json = JSON.stringify(value)
  const written: string[] = []
  const write = (text: string) => written.push(text)
  createWriter({ isTTY: true, write })(json)
  expect(written[0]).toBe('{"text":"\\u009b31m\\u202e\\u007f","n":1}')
  expect(JSON.parse(written[0] ?? '')).toEqual(value)
  createWriter({ isTTY: true, write })('a\tb\n')
  createWriter({ write })(json)
  expect(written.slice(1)).toEqual(['a\tb\n', json])
})
