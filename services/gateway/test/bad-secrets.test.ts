import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { fakeSecrets } from './secrets-fake.ts'

const many = JSON.stringify(Array.from({ length: 101 }, (_, i) => `n${i}`))

/** Bodies with the status that answers each. */
const entries: Record<string, [body: string, expected: number]> = {
  'no body': ['', 422],
  'a truncated body': ['{"name":', 422],
  'a list': ['[]', 422],
  'no name': ['{"value":"canary"}', 422],
  'no value': ['{"name":"a"}', 422],
  'null as a value': ['{"name":"a","value": null }', 422],
  'null as a name': ['{"name":null,"value":"canary"}', 422],
  'a number as a name': ['{"name":1,"value":"canary"}', 422],
  'an empty name': ['{"name":"","value":"canary"}', 422],
  'a slash in a name': ['{"name":"a/b","value":"canary"}', 422],
  'dots as a name': ['{"name":"..","value":"canary"}', 422],
  'a NUL in a name': ['{"name":"a\\u0000","value":"canary"}', 422],
  'a lone surrogate in a name': ['{"name":"\\ud800","value":"canary"}', 422],
  'a name too long': [`{"name":"${'x'.repeat(256)}","value":"canary"}`, 422],
  'a truncated value': ['{"name":"a","value":"canary}', 422],
  'a raw line break in a value': ['{"name":"a","value":"canary\n"}', 422],
  'two documents': ['{"name":"a","value":"canary"}{}', 422],
  'unknown members': ['{"name":"a","value":1,"colour":"blue","__proto__":{"value":2}}', 200],
  'the longest name': [`{"name":"${'é'.repeat(255)}","value":""}`, 200],
}

const batches: Record<string, [body: string, expected: number]> = {
  'no body': ['', 422],
  'a string': ['"abc"', 422],
  'an object': ['{"names":["a"]}', 422],
  'a number among the names': ['["a",1]', 422],
  'null among the names': ['[null]', 422],
  'a list among the names': ['[["a"]]', 422],
  'a slash in a name': ['["a/b"]', 422],
  'an empty name': ['[""]', 422],
  'more than a hundred names': [many, 413],
  'names of prototype members': ['["__proto__","constructor"]', 404],
}

async function assertStatus(path: string, body: string, expected: number): Promise<void> {
  const { call } = await startGateway({
    secrets: fakeSecrets('Secret').handlers,
    configs: fakeSecrets('Config').handlers,
  })
  const response = await call('POST', path, {
    body: Buffer.from(body),
    headers: { 'content-type': 'application/json' },
  })
  const text = await response.text()
  expect(response.status, text).toBe(expected)
  expect(text).not.toContain('canary')
}

const rows = (cases: typeof entries) =>
  Object.entries(cases).map(([what, [body, expected]]) => [what, expected, body] as const)

for (const kind of ['secrets', 'configs']) {
  test.each(rows(entries))(`${kind}, %s: %i`, (_, expected, body) =>
    assertStatus(`/admin/${kind}`, body, expected),
  )
  test.each(rows(batches))(`a batch of ${kind}, %s: %i`, (_, expected, body) =>
    assertStatus(`/admin/${kind}/batch`, body, expected),
  )
}

test.each(['a%2Fb', '%2E%2E', 'a%00', '%ff', 'x'.repeat(256)])(
  'the path name %s: 400 or 404',
  async (name) => {
    const { call } = await startGateway({ secrets: fakeSecrets('Secret').handlers })
    for (const method of ['GET', 'DELETE'])
      expect([400, 404]).toContain((await call(method, `/admin/secrets/${name}`)).status)
  },
)

test('other spellings of the path and the removed prefix: 404', async () => {
  const { call } = await startGateway({ secrets: fakeSecrets('Secret').handlers })
  for (const path of [
    '/secrets',
    '/secrets/a',
    '/ADMIN/secrets',
    '/admin/secrets/',
    '//admin/secrets',
  ])
    expect((await call('GET', path)).status, path).toBe(404)
})
