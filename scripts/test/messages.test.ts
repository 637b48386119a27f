import { expect, it } from 'vitest'
import { Settings } from '../../packages/runtime/src/config/settings.ts'
import { openText, servingText } from '../system/messages.ts'

it('authentication off: the warning names the addresses that are listened on', () => {
  const hosts = (server: string, mcp: string) =>
    openText(Settings.parse({ server: { host: server }, mcp: { host: mcp } }))
  expect(hosts('127.0.0.1', '127.0.0.1')).toContain('They listen on 127.0.0.1.')
  expect(hosts('0.0.0.0', '127.0.0.1')).toContain('They listen on 0.0.0.0 and 127.0.0.1.')
})

const addresses = {
  consoleUrl: 'http://127.0.0.1:8000/console/',
  url: 'http://127.0.0.1:8000',
  mcpUrl: 'http://127.0.0.1:8080/mcp',
  metricsUrl: 'http://127.0.0.1:9100/metrics',
  targets: 'targets.json',
  logs: 'logs',
  example: 'hello_world.py',
}

it('the printed addresses: that of the console comes first', () => {
  const [first] = servingText(addresses, false).match(/https?:\/\/\S+/g) ?? []
  expect(first).toBe(addresses.consoleUrl)
})

it('authentication on: the printed commands send the key', () => {
  const header = `-H "authorization: Bearer $SVC_AUTH_TOKEN"`
  const curls = (text: string) => text.split('\n').filter((line) => line.includes('curl '))
  for (const line of curls(servingText(addresses, true))) expect(line).toContain(header)
  expect(servingText(addresses, false)).not.toContain('authorization')
})
