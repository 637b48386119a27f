import { startService } from '@windlass/testkit/service'
import { expect, test } from 'vitest'
import { start } from '../src/server.ts'

test('with authentication on and a secret missing identity does not start', async () => {
  const starting = startService(start, { SVC_SECURITY__AUTH__ENABLED: 'true' })
  await expect(starting).rejects.toThrow('execution_token_secret')
})
