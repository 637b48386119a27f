import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const MAIN = new URL('../src/process/main.ts', import.meta.url).href

test.each([
  [
    'an exception that nothing catches',
    "setTimeout(() => { throw new Error('late') })",
    'uncaught exception',
  ],
  [
    'a rejection that nothing handles',
    "void Promise.reject(new Error('late'))",
    'unhandled rejection',
  ],
])('%s: the service logs it as fatal and exits with 1', async (_, fault, message) => {
  const script = `
    import { main } from '${MAIN}'
    await main('late', async () => { ${fault}; return {} })`
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', script]
  const service = spawn(process.execPath, args, {
    env: { ...process.env, SVC_CONFIG: '/dev/null' },
  })
  const output = text(service.stdout)
  expect(await once(service, 'exit')).toEqual([1, null])
  const lines = (await output)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.find(({ level }) => level === 'fatal')).toMatchObject({
    service: 'late',
    msg: message,
    err: { message: 'late' },
  })
})
