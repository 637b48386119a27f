import { expect, test } from 'vitest'
import { demandAuthSecrets } from './auth-secrets.ts'
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
  expect(() => demandAuthSecrets(settings(true))).toThrow(`${token} and ${key}`)
  expect(() => demandAuthSecrets(settings(true, 'a', ' '))).toThrow(`needs ${key} to`)
  expect(() => demandAuthSecrets(settings(true, undefined, 'b'))).toThrow(`needs ${token} to`)
  demandAuthSecrets(settings(true, 'a', 'b'))
})

test('with authentication off they may be missing', () => demandAuthSecrets(settings(false)))
