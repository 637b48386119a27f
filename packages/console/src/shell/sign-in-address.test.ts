import { expect, test } from 'vitest'
import { issuerAddress } from './sign-in-address.ts'

test.each([
  ['executions/a1', 'tab=log&x=1 2', 'executions/a1?tab=log&x=1+2'],
  ['', 'sign_in=expired', ''],
  ['executions', 'sign_in=refused&state=FAILED', 'executions?state=FAILED'],
])('sign-in at %s?%s: returns to %s', (path, query, to) => {
  const begun = new URL(
    issuerAddress('https://h/p/start', { path, query: new URLSearchParams(query) }),
  )
  expect([begun.pathname, begun.searchParams.get('return_to')]).toEqual(['/p/start', to])
})
