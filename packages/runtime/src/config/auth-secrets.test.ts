import { expect, test } from 'vitest'
import { requireAuthSecrets } from './auth-secrets.ts'
import { Settings } from './settings.ts'

const settings = (auth: boolean, token?: string, key?: string) =>
  Settings.parse({
    security: {
      auth: { enabled: auth },
      execution_token_secret: token,
      encryption: { encryption_key: key },
    },
  })

test('with authentication on, every secret that is missing is named', () => {
  const token = '[svc.security].execution_token_secret'
  const key = '[svc.security.encryption].encryption_key'
  expect(() => requireAuthSecrets(settings(true))).toThrow(`${token} and ${key}`)
  expect(() => requireAuthSecrets(settings(true, 'a', ' '))).toThrow(`needs ${key} to`)
  expect(() => requireAuthSecrets(settings(true, undefined, 'b'))).toThrow(`needs ${token} to`)
  requireAuthSecrets(settings(true, 'a', 'b'))
})

test('a service that uses one secret: is not asked for the other', () => {
  const key = '[svc.security.encryption].encryption_key'
  requireAuthSecrets(settings(true, undefined, 'b'), [key])
  expect(() => requireAuthSecrets(settings(true, 'a'), [key])).toThrow(`needs ${key} to`)
})

test('with authentication off they may be missing', () => requireAuthSecrets(settings(false)))
