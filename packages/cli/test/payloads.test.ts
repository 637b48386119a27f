import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const EXACT = '{ "n": 9007199254740993, "x": 1.0, "x": 1e400, "t": "\\ud800ü" }'
const LOG = `GET /executions/${ID}/log?types=`

const pageOf = (entries: object[], more_after = false) => ({
  body: JSON.stringify({ entries, last_seq: 9, more_before: false, more_after }),
})

test.each(['input', 'output', 'error'])(
  'execution show --%s: the stored text and nothing else',
  async (payload) => {
    const { api, windlass } = await cliFixture()
    api.answers.set(`GET /executions/${ID}/${payload}`, { body: EXACT })
    expect(await windlass('execution', 'show', ID, `--${payload}`)).toEqual({
      ...{ status: 0, out: EXACT, err: '' },
    })
  },
)

test('execution show --input to a terminal: with a line break', async () => {
  const { api, windlass } = await cliFixture({ isTerminal: true })
  api.answers.set(`GET /executions/${ID}/input`, { body: EXACT })
  expect((await windlass('execution', 'show', ID, '--input')).out).toBe(`${EXACT}\n`)
})

test('two payloads at once, or none of a step: exit status 2', async () => {
  const { api, windlass } = await cliFixture()
  for (const argv of [
    ['execution', 'show', ID, '--input', '--output'],
    ['execution', 'show', ID, '--input', '--detailed'],
    ['execution', 'step', ID, 'pay'],
  ])
    expect((await windlass(...argv)).status).toBe(2)
  expect(api.seen).toEqual([])
})

test('execution step: the value of the last entry of the call, found over several pages', async () => {
  const { api, windlass } = await cliFixture()
  const rest = '&payloads=omit&limit=1000'
  const type = 'TASK_COMPLETED'
  api.answers.set(
    `${LOG}${type}${rest}&after=0`,
    pageOf([{ seq: 3, source_id: 'pay/1', name: 'pay' }], true),
  )
  api.answers.set(
    `${LOG}${type}${rest}&after=3`,
    pageOf([
      { seq: 5, source_id: 'send/1', name: 'send' },
      { seq: 7, source_id: 'send/2', name: 'send' },
    ]),
  )
  for (const seq of [3, 7])
    api.answers.set(`GET /executions/${ID}/log?after=${seq - 1}&limit=1&payloads=full`, {
      body: `{"entries":[{"seq":${seq},"value":${EXACT}}],"more_after":false}`,
    })
  const step = (call: string) => windlass('execution', 'step', ID, call, '--output')
  expect(await step('send/2')).toEqual({ status: 0, out: EXACT, err: '' })
  expect(await step('pay')).toEqual({ status: 0, out: EXACT, err: '' })
  expect(await step('send')).toEqual({
    status: 1,
    out: '',
    err: "windlass: the task 'send' has 2 calls with an output; name one of them: send/1, send/2\n",
  })
  expect((await step('none')).err).toContain("has no call 'none' with an output")
})

test.each([
  [`{"storage_type":"inline","reference_id":"r","metadata":{"value":${EXACT}}}`, EXACT],
  ['{"storage_type":"local_file","reference_id":"r"}', undefined],
  ['{"storage_type":"inline","reference_id":"r"}', undefined],
  ['[1.0]', undefined],
])(
  'execution step of a result stored as %s: its value, or the stored text',
  async (stored, value) => {
    const { api, windlass } = await cliFixture()
    const entry = { seq: 1, source_id: 'a', name: 'a' }
    api.answers.set(`${LOG}TASK_FAILED&payloads=omit&limit=1000&after=0`, pageOf([entry]))
    api.answers.set(`GET /executions/${ID}/log?after=0&limit=1&payloads=full`, {
      body: `{"entries":[{"seq":1,"value":${stored}}]}`,
    })
    expect((await windlass('execution', 'step', ID, 'a', '--error')).out).toBe(value ?? stored)
  },
)
