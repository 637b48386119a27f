import { startService } from '@windlass/testkit/service'
import { expect, test } from 'vitest'
import { start } from '../src/server.ts'

test('authentication on without encryption_key: identity does not start', async () => {
  const starting = startService(start, { SVC_SECURITY__AUTH__ENABLED: 'true' })
  await expect(starting).rejects.toThrow('encryption_key')
})
