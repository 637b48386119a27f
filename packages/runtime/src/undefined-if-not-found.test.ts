import { expect, test } from 'vitest'
import { conflict, notFound } from './faults.ts'
import { undefinedIfNotFound } from './undefined-if-not-found.ts'

test('not_found: undefined; any other error: rethrown', async () => {
  const missing = Promise.reject(notFound('workflow', 'a/b'))
  expect(await missing.catch(undefinedIfNotFound)).toBeUndefined()
  const refused = conflict('no')
  await expect(Promise.reject(refused).catch(undefinedIfNotFound)).rejects.toBe(refused)
  const bug = new Error('bug')
  await expect(Promise.reject(bug).catch(undefinedIfNotFound)).rejects.toBe(bug)
})
