import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { cliFixture, writeSource } from './cli-fixture.ts'

test('config set: sends text or exact JSON, with patterns', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /admin/configs', { body: '{"status":"success","message":"saved"}' })
  expect(await windlass('config', 'set', 'db url', 'a b')).toEqual({
    ...{ status: 0, out: 'saved\n', err: '' },
  })
  const file = await writeSource('')
  await writeFile(file, '{"n":9007199254740993, "x":1.0}\n')
  const scope = ['--namespaces', 'team,b-*', '--workflows', '*']
  await windlass('config', 'set', 'limits', `@${file}`, '--json', ...scope, '--if-revision', 'ab12')
  expect(api.seen.map(({ headers }) => headers['if-match'])).toEqual([undefined, '"ab12"'])
  expect(api.seen.map(({ body }) => body)).toEqual([
    '{"name":"db url","value":"a b"}',
    '{"name":"limits","value":{"n":9007199254740993, "x":1.0},"namespaces":["team","b-*"],"workflows":null}',
  ])
})

test('config get, list and delete: print text, JSON, names and the message', async () => {
  const { api, windlass } = await cliFixture()
  const exact = '{"name":"n","value":{"n":9007199254740993, "x":1.0}}'
  api.answers.set('GET /admin/configs/n', { body: exact })
  expect((await windlass('config', 'get', 'n')).out).toBe('{"n":9007199254740993, "x":1.0}\n')
  expect((await windlass('config', 'get', 'n', '--json')).out).toBe(`${exact}\n`)
  api.answers.set('GET /admin/configs', { body: '["a","b c"]' })
  expect((await windlass('config', 'list')).out).toBe('a\nb c\n')
  api.answers.set('GET /admin/configs?detailed=true', {
    body: '[{"name":"a","namespaces":["t"],"workflows":null,"revision":"ab12"}]',
  })
  expect((await windlass('config', 'list', '--detailed')).out).toBe(
    'a\tnamespaces t\tworkflows *\trevision ab12\n',
  )
  api.answers.set('DELETE /admin/configs/a', { body: '{"message":"gone"}' })
  expect((await windlass('config', 'delete', 'a')).out).toBe('gone\n')
  expect((await windlass('config', 'set', '..', 'x')).status).toBe(2)
  expect((await windlass('config', 'get', 'a', '--previous')).status).toBe(2)
})

test('a secret as an argument: stored, with a warning; from a file: without', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /admin/secrets', { body: '{"message":"saved"}' })
  const { status, err } = await windlass('secret', 'set', 'key', 'abc123')
  expect(status).toBe(0)
  expect(err).toMatch(/^warning: .* use @file or standard input\n$/)
  expect(err).not.toContain('abc123')
  const file = await writeSource('abc123\n')
  expect((await windlass('secret', 'set', 'key', `@${file}`)).err).toBe('')
  expect(api.seen[1]?.body).toBe('{"name":"key","value":"abc123"}')
})
