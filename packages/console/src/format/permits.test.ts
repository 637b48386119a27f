import { permits as permitsOfServer } from '@windlass/domain/permissions'
import { expect, test } from 'vitest'
import { permits } from './permits.ts'

const GRANTED = ['*', 'workflow:*', 'workflow:a:*:run', 'workflow:a:b:run', 'admin:*', 'a:*:*', '']
const NEEDED = ['workflow:a:b:run', 'workflow:a:b', 'workflow', 'admin:x', 'a', 'a:b:c:d', '', '*']

test.each(GRANTED)('granted %j: the same answers as those of the server', (granted) => {
  for (const needed of NEEDED)
    expect([needed, permits(granted, needed)]).toEqual([needed, permitsOfServer(granted, needed)])
})
