import { freshDatabase, query } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { expect, test } from 'vitest'
import { start } from '../src/server.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url)

test('authentication on without encryption_key: identity does not start', async () => {
  const starting = startService(start, { SVC_SECURITY__AUTH__ENABLED: 'true' })
  await expect(starting).rejects.toThrow('encryption_key')
})

test('an outage of the database while the policy of secrets is read: identity waits and starts', async () => {
  const url = await freshDatabase('identity', MIGRATIONS)
  // The first read of the column fails as while the server is stopped; no other one does.
  await query(
    url,
    `set search_path = identity;
     create sequence reads;
     create function fail_once(policy text) returns text language plpgsql as $$
     begin
       if nextval('identity.reads') = 1 then
         raise exception 'terminating connection' using errcode = 'admin_shutdown';
       end if;
       return policy;
     end $$;
     alter table installation rename to installation_rows;
     create view installation as
       select key_salt, uses_key_salt, fail_once(secrets_policy) as secrets_policy from installation_rows`,
  )
  await startService(start, { SVC_POSTGRES__URL: url })
  const [row] = await query<{ last_value: string }>(url, 'select last_value from identity.reads')
  expect(Number(row?.last_value)).toBeGreaterThan(1)
})
