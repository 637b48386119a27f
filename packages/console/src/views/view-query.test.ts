import { expect, test } from 'vitest'
import { viewQuery } from './view-query.ts'

test.each([
  ['workflow_name=a&state=FAILED', 'state=FAILED&workflow_name=a'],
  ['state=FAILED&offset=50&selected=a%2Cb', 'state=FAILED'],
  ['error=a%26b+c', 'error=a%26b+c'],
  ['selected=a', ''],
])('an address with %j: the view %j', (query, view) => {
  expect(viewQuery(new URLSearchParams(query))).toBe(view)
})
