import { expect, test } from 'vitest'
import { describeDetail } from './describe-detail.ts'

test.each([
  ['{"detail":"Not Found"}', 'Not Found'],
  [
    '{"detail":{"message":"Authorization denied","missing_permissions":["a:b:c","d"]}}',
    'Authorization denied: missing a:b:c, d',
  ],
  [
    '{"detail":{"message":"Authorization denied","missing_permissions":[]}}',
    'Authorization denied',
  ],
  [
    '{"detail":[{"loc":["body","tasks",2],"msg":"Field required","type":"missing"},{"loc":[],"msg":"no"}]}',
    'body.tasks.2: Field required; no',
  ],
])('the body %s: the sentence %j', (body, expected) => {
  expect(describeDetail(body)).toBe(expected)
})

test.each(['', '<html>', '{}', '[]', '{"detail":null}', '{"detail":[]}', '{"detail":{"x":1}}'])(
  'the body %j is not an error of the API: undefined',
  (body) => {
    expect(describeDetail(body)).toBeUndefined()
  },
)
