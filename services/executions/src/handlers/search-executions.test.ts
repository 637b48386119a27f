import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@windlass/runtime/postgres/db'
import { expect, test } from 'vitest'
import { createSearchHandler } from './search-executions.ts'

test('a page that cannot be read while matches are counted: refused, and no rejection is left unhandled', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const db = {
    rows: async () => {
      throw new Error('statement timeout')
    },
    maybe: async () => {
      await sleep(20)
      return { count: 0 }
    },
  } as unknown as Db
  const request = { cursor: '', visible: undefined, states: [], tags: {}, limit: 1, offset: 0 }
  await expect(createSearchHandler(db)(request as never, {} as never)).rejects.toThrow(
    'statement timeout',
  )
  await sleep(50)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
