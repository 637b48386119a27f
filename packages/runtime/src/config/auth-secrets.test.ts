import { expect, test } from 'vitest'
import { requireAuthSecrets } from './auth-secrets.ts'
import { Settings } from './settings.ts'

const TOKEN = '[svc.security].execution_token_secret'
const KEY = '[svc.security.encryption].encryption_key'
const BOOTSTRAP = '[svc.workers].bootstrap_token'
const RPC = '[svc.rpc].secret'
const STRONG = '4f1c9a07d2e8b6533c0a7e91f5d8426b'

interface Given {
  token?: string
  key?: string
  previous?: string[]
  bootstrap?: string
  rpc?: string
}

const settings = (auth: boolean, { token, key, previous, bootstrap, rpc }: Given) =>
  Settings.parse({
    security: {
      auth: { enabled: auth },
      execution_token_secret: token,
      encryption: { encryption_key: key, previous_keys: previous },
    },
    workers: { bootstrap_token: bootstrap },
    rpc: { secret: rpc },
  })

const strong = { token: STRONG, key: STRONG }

test('authentication on, secrets missing: each is named', () => {
  expect(() => requireAuthSecrets(settings(true, {}))).toThrow(`${TOKEN} and ${KEY}`)
  expect(() => requireAuthSecrets(settings(true, { ...strong, key: ' ' }))).toThrow(
    `needs ${KEY} to`,
  )
  expect(() => requireAuthSecrets(settings(true, { key: STRONG }))).toThrow(`needs ${TOKEN} to`)
  requireAuthSecrets(settings(true, strong))
})

test('a service that uses one secret: is not asked for the other', () => {
  requireAuthSecrets(settings(true, { key: STRONG }), { secrets: [KEY] })
  const withoutKey = settings(true, { token: STRONG })
  expect(() => requireAuthSecrets(withoutKey, { secrets: [KEY] })).toThrow(`needs ${KEY} to`)
})

test.each([
  [TOKEN, { ...strong, token: 'x' }],
  [TOKEN, { ...strong, token: STRONG.slice(1) }],
  [TOKEN, { ...strong, token: `${STRONG.slice(1)} \n` }],
  [TOKEN, { ...strong, token: 'a'.repeat(64) }],
  [KEY, { ...strong, key: 'password'.repeat(8) }],
  [KEY, { ...strong, key: '0123456789abcdefghijklmnopqrstuvwxyz' }],
  [BOOTSTRAP, { ...strong, bootstrap: STRONG.slice(0, 23) }],
  [BOOTSTRAP, { ...strong, bootstrap: 'changeme'.repeat(3) }],
  [RPC, { ...strong, rpc: 'sixteen letters!' }],
])(
  'authentication on with a weak %s (%j): refused with the command for a strong one',
  (name, given) => {
    let message = ''
    try {
      requireAuthSecrets(settings(true, given))
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toContain(`${name} `)
    expect(message).toContain('openssl rand -hex 32')
    const weak = Object.values(given).find((value) => value !== STRONG && value.length > 1)
    if (weak) expect(message).not.toContain(weak)
  },
)

test('a strong bootstrap token, a weak previous key: accepted', () => {
  requireAuthSecrets(settings(true, { ...strong, bootstrap: STRONG.slice(0, 24), previous: ['x'] }))
})

test('authentication off: secrets may be missing, and weak ones are logged without their value', () => {
  const lines: object[] = []
  const log = { warn: (fields: object) => void lines.push(fields) }
  requireAuthSecrets(settings(false, {}), { log })
  expect(lines).toEqual([])
  requireAuthSecrets(settings(false, { token: 'x', bootstrap: 'unused' }), { log })
  expect(lines).toMatchObject([{ setting: TOKEN }, { setting: BOOTSTRAP }])
  expect(JSON.stringify(lines)).not.toContain('unused')
})
