import { StatusError } from '@windlass/api-client/errors'
import { expect, test } from 'vitest'
import { choiceProblem } from './choice-problem.ts'

const REFUSAL = 'You need the permission admin:roles:read'
const EMPTY = 'There is none yet'
const forbidden = new StatusError(403, '{"detail":"Permission required: admin:roles:read"}')

test.each([
  [{ data: undefined, error: undefined }, undefined, undefined],
  [{ data: ['a'], error: undefined }, REFUSAL, undefined],
  [{ data: [], error: undefined }, undefined, EMPTY],
  [{ data: [], error: undefined }, REFUSAL, REFUSAL],
  [{ data: undefined, error: undefined }, REFUSAL, REFUSAL],
  [
    { data: undefined, error: forbidden },
    undefined,
    'You may not see this: Permission required: admin:roles:read',
  ],
])('choices %j, refusal %s: the reason why there is none', (answer, refusal, text) => {
  expect(choiceProblem(answer, { refusal, empty: EMPTY })).toBe(text)
})
