import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { keyOf, serviceAccount } from './service-account.ts'

/** Principals by the first digit of their key, with their permissions. */
const CALLERS: Record<string, [subject: string, permissions: string[]]> = {
  0: ['ann', ['execution:*:read']],
  1: ['bob', ['execution:*:read']],
  2: ['carl', ['execution:team:*:read']],
  3: ['dora', ['execution:*:read', 'worker:*:read']],
}

/** A gateway whose lists have as many executions as were read before. */
async function setup() {
  let total = 0
  const { call } = await startGateway(
    {
      keys: {
        async find({ prefix }) {
          const [subject = '', permissions = []] = CALLERS[prefix.charAt(3)] ?? []
          const account = { principal: serviceAccount({ subject }), permissions }
          return { account, expires_at: undefined }
        },
      },
      history: {
        search: async () => ({
          ...{ rows: [], total: ++total, total_exact: true, next_cursor: '', cut: false },
        }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  return async (digit: string, cacheControl = '', query = 'limit=1') => {
    const headers = new Headers({ authorization: `Bearer ${keyOf(digit)}` })
    if (cacheControl) headers.set('cache-control', cacheControl)
    const response = await call('GET', `/executions?${query}`, { headers })
    const { total } = (await response.json()) as { total: number }
    return [total, response.headers.get('age')]
  }
}

test('callers with equal rights that accept an old answer: one read, and its age; others: reads of their own', async () => {
  const read = await setup()
  expect(await read('0', 'max-age=10')).toEqual([1, null])
  expect(await read('1', 'max-age=10')).toEqual([1, '1'])
  expect(await read('1', 'no-transform, max-age=10')).toEqual([1, '1'])
  expect(await read('1', 'max-age=10', 'limit=2')).toEqual([2, null])
  expect(await read('2', 'max-age=10')).toEqual([3, null])
  expect(await read('3', 'max-age=10')).toEqual([4, null])
  expect(await read('0', 'max-age=10')).toEqual([1, '1'])
})

test.each(['', 'max-age=0', 'no-cache', 'max-age=-1', 'max-age=1e3', 'x-max-age=10'])(
  'the request header Cache-Control: %s: a new read',
  async (header) => {
    const read = await setup()
    await read('0', 'max-age=10')
    expect(await read('0', header)).toEqual([2, null])
  },
)
