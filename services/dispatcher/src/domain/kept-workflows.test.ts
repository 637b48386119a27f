import { expect, test } from 'vitest'
import { KeptWorkflows, MAX_KEPT, MAX_KEPT_CHARS } from './kept-workflows.ts'

test('a workflow: sent to keep once, then by name', () => {
  const kept = new KeptWorkflows()
  expect(kept.formOf('a', 10)).toBe('to_keep')
  expect(kept.formOf('a', 10)).toBe('kept')
  expect(kept.formOf('b', 10)).toBe('to_keep')
})

test('workflows beyond the limits: sent whole each time, the others still by name', () => {
  const kept = new KeptWorkflows()
  expect(kept.formOf('large', MAX_KEPT_CHARS + 1)).toBe('whole')
  for (let i = 0; i < MAX_KEPT; i++) expect(kept.formOf(`w${i}`, 1)).toBe('to_keep')
  for (let i = 0; i < 2; i++) expect(kept.formOf('further', 1)).toBe('whole')
  expect(kept.formOf('w0', 1)).toBe('kept')
})
