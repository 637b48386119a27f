import { sql } from '@windlass/runtime/postgres/sql'
import { countRead, statementsOf } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { endExpired } from '../src/store/sessions.ts'
import { startIdentity } from './identity-fixture.ts'

const COUNT = 20_000

test.each([0, 604_800])(
  'thousands of sessions within their limits, max. age %i s: not read to end the others',
  async (maxAgeS) => {
    const { db } = await startIdentity()
    await db.run(sql`
      insert into worker_sessions (prefix, token_hash, worker_name, session_id)
      select 'ws_' || lpad(to_hex(i), 16, '0'), sha256('x'), 'w' || i, gen_random_uuid()
        from generate_series(1, ${COUNT}::int) as i`)
    await db.run(sql`vacuum analyze worker_sessions`)
    const statements = await statementsOf((tx) => endExpired(tx, { idleS: 86_400, maxAgeS }, 1_000))
    for (const statement of statements)
      expect(await countRead(db, statement)).toBeLessThan(COUNT / 4)
  },
)
