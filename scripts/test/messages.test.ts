import { expect, it } from 'vitest'
import { Settings } from '../../packages/runtime/src/config/settings.ts'
import { openText } from '../system/messages.ts'

it('authentication off: the warning names the addresses that are listened on', () => {
  const hosts = (server: string, mcp: string) =>
    openText(Settings.parse({ server: { host: server }, mcp: { host: mcp } }))
  expect(hosts('127.0.0.1', '127.0.0.1')).toContain('They listen on 127.0.0.1.')
  expect(hosts('0.0.0.0', '127.0.0.1')).toContain('They listen on 0.0.0.0 and 127.0.0.1.')
})
