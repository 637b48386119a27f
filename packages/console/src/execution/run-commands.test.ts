import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlCommand, pythonCode, type Run, windlassCommand } from './run-commands.ts'

const RUN: Run = {
  ...{ namespace: 'team', workflow: 'pay day', version: 3, needsKey: true },
  ...{ serverUrl: 'https://host/base', input: '' },
}

/** Inputs that a shell or a program could change. */
const INPUTS = [
  '{"n":9007199254740993,"n":1.0,"text":"it\'s $HOME `id` \\n \\u0000 ü 😀"}',
  '-5',
  '"--help"',
  'null',
  '{"a":"\'\'\'"}',
]

/** Arguments that a shell makes of a command. */
const argumentsOf = (command: string) =>
  execFileSync('/bin/sh', ['-c', `set -- ${command}\nprintf '%s\\0' "$@"`], {
    env: { SVC_AUTH_TOKEN: 'wk_1' },
    encoding: 'utf8',
  })
    .split('\0')
    .slice(0, -1)

test.each(INPUTS)('curl for %s: a shell passes the input unchanged', (input) => {
  const words = argumentsOf(curlCommand({ ...RUN, input }))
  expect(words).toEqual([
    ...['curl', '-X', 'POST', 'https://host/base/workflows/team/pay%20day/run/async?version=3'],
    ...['-H', 'content-type: application/json', '-H', 'authorization: Bearer wk_1'],
    ...['--data-binary', input],
  ])
})

test.each(INPUTS)(
  'windlass for %s: a shell passes the input unchanged, after the options',
  (input) => {
    const words = argumentsOf(windlassCommand({ ...RUN, input }))
    expect(words).toEqual([
      ...['windlass', 'workflow', 'run', '--async', '--server-url', 'https://host/base'],
      ...['--version', '3', '--', 'team/pay day', input],
    ])
  },
)

test('Python: the input is a string literal that json.loads reads; the key comes from the environment', () => {
  const code = pythonCode({ ...RUN, input: '{"n":9007199254740993,"t":"\\"ü"}' })
  expect(code).toContain(
    'json.loads("{\\"n\\":9007199254740993,\\"t\\":\\"\\\\\\"ü\\"}"), version=3)',
  )
  expect(code).toContain('Client("https://host/base", token=os.environ["SVC_AUTH_TOKEN"])')
})

test('a server without authentication and no version: neither is named', () => {
  const run = { ...RUN, input: '1', needsKey: false, version: undefined }
  for (const text of [curlCommand(run), windlassCommand(run), pythonCode(run)])
    expect(text).not.toMatch(/TOKEN|version/)
})
