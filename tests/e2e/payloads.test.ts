import { call } from '@windlass/testkit/http'
import { expect, test } from 'vitest'
import { executionFixture, expectOk, sharedSystem, TWO_OF_EACH } from './execution-fixture.ts'

const system = sharedSystem({ replicas: TWO_OF_EACH })

/** JSON texts that parsing and serializing would change. */
const TEXTS = {
  'a number beyond double precision': '9007199254740993',
  'numbers in other spellings': '[1e400, -0, 1.0, 1E+2, 0.10]',
  'many digits': `1${'0'.repeat(5_000)}.5`,
  'a lone surrogate': '"\\ud800 and \\udc00"',
  'an escaped NUL': '"\\u0000"',
  'line separators and an emoji': '"\u2028 \u2029 🚀"',
  'unnecessary escapes': '"\\u0041\\/"',
  'names of prototype members': '{"__proto__":{"a":1},"constructor":{"prototype":{}}}',
  'a duplicate name': '{"b":1,"a":2,"b":3}',
  'blanks and line breaks': '{ "b" : 1 ,\n\t"a":\r[ ] }',
  'null itself': 'null',
  'depth 512': '['.repeat(512) + ']'.repeat(512),
}

test.each(Object.entries(TEXTS))(
  'R6: %s: returned byte for byte by every route and event',
  async (_, text) => {
    const a = await executionFixture(system(), 1)
    const [worker] = a.workers as [(typeof a.workers)[0]]
    const started = await a.requestRun(text)
    expectOk(started)
    expect(started.text).toContain(`"input":${text},`)
    const id = started.json.execution_id as string
    const frame = await worker.nextFrame('execution_scheduled', id)
    expect(frame.text).toContain(`"input":${sent(text)},`)
    const claim = await worker.claim(id)
    expect(claim.text).toContain(`"input":${text},`)
    const task = { type: 'TASK_COMPLETED', value: text }
    expectOk(await worker.checkpoint(id, { state: 'RUNNING', events: [task], generation: 1 }))
    expectOk(await worker.complete(id, 1, text))
    for (const url of [a.one, a.two]) {
      const detailed = await a.send('GET', `/executions/${id}?detailed=true`, undefined, url)
      expect(
        detailed.text.split(text).length - 1,
        'input, output and two events',
      ).toBeGreaterThanOrEqual(4)
      expect(detailed.text).toContain(`"input":${text},"output":${text},`)
      expect(detailed.text).toContain(`"value":${text},`)
      const stream = await call('GET', `${url}/executions/${id}/events`)
      expect(stream.text).toContain(`"output":${sent(text)}`)
    }
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  },
)

/** Event data is one line: line breaks between tokens become blanks, in strings escapes. */
const sent = (text: string) =>
  text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`)

test('R6: body of a resume and output of a pause: delivered unchanged', async () => {
  const a = await executionFixture(system(), 1)
  const [worker] = a.workers as [(typeof a.workers)[0]]
  const text = '{"__proto__":9007199254740993,"a":"\\ud800"}'
  const id = await a.run()
  const generation = await worker.awaitAndClaim(id)
  const value = `{"name":"gate","output":${text}}`
  const events = [{ type: 'WORKFLOW_PAUSED', value }]
  expectOk(await worker.checkpoint(id, { state: 'PAUSED', events, generation }))
  expect((await a.send('GET', `/executions/${id}`)).text).toContain(`"output":${text},`)
  expectOk(await a.resume(id, text))
  const frame = await worker.nextFrame('execution_resumed', id)
  expect(frame.text).toContain(`"value":${text},`)
})
