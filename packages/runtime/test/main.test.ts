import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

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

test('a mistake in the configuration: one line without a stack, and exit status 1', async () => {
  const script = `
    import { main } from '${MAIN}'
    await main('early', async () => ({}))`
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', script]
  const service = spawn(process.execPath, args, {
    env: { ...process.env, SVC_CONFIG: '/dev/null', SVC_SERVER__PORT: 'http' },
  })
  const [output, error] = [text(service.stdout), text(service.stderr)]
  expect(await once(service, 'exit')).toEqual([1, null])
  const [line = '', ...rest] = (await output).trim().split('\n')
  expect(JSON.parse(line)).toMatchObject({
    level: 'fatal',
    msg: 'failed to start: invalid configuration: SVC_SERVER__PORT is "http"; expected a port from 0 to 65535',
  })
  expect(line).not.toContain('stack')
  expect(rest.every((other) => JSON.parse(other).level === 'info')).toBe(true)
  expect(await error).toBe('')
})

test('SIGUSR2 twice: debug lines in between, and the configured level again', async () => {
  const script = `
    import { main } from '${MAIN}'
    await main('talkative', async (_, { log }) => {
      setInterval(() => log.debug('beat'), 20)
      return {}
    })`
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', script]
  const service = spawn(process.execPath, args, {
    env: { ...process.env, SVC_CONFIG: '/dev/null', SVC_LOG_LEVEL: 'info' },
  })
  onTestFinished(() => void service.kill('SIGKILL'))
  const messages: string[] = []
  for await (const line of createInterface({ input: service.stdout })) {
    const { msg, level, log_level } = JSON.parse(line)
    messages.push(log_level ?? msg)
    if (msg === 'started' || (level === 'debug' && messages.at(-2) === 'debug'))
      service.kill('SIGUSR2')
    if (log_level === 'info') break
  }
  expect(messages.slice(0, 3)).toEqual(['started', 'debug', 'beat'])
  expect(messages.at(-1)).toBe('info')
})

test('SIGTERM with a drain delay: /ready answers 503 at once, before anything stops', async () => {
  const script = `
    import { main } from '${MAIN}'
    await main('drained', async () => {
      setInterval(() => {}, 1_000)
      return {}
    })`
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', script]
  const service = spawn(process.execPath, args, {
    env: { ...process.env, SVC_CONFIG: '/dev/null', SVC_ADMIN__DRAIN_DELAY: '600' },
  })
  onTestFinished(() => void service.kill('SIGKILL'))
  const statuses: number[] = []
  for await (const chunk of service.stdout) {
    const port = /"started"/.test(String(chunk)) && /"admin":(\d+)/.exec(String(chunk))?.[1]
    const ready = async (port: string) => (await fetch(`http://127.0.0.1:${port}/ready`)).status
    if (!port) continue
    statuses.push(await ready(port))
    service.kill('SIGTERM')
    while (statuses.at(-1) === 200) statuses.push(await ready(port))
    break
  }
  expect(statuses.at(-1)).toBe(503)
})
