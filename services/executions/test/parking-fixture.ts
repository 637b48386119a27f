import type { Park } from '@windlass/proto/windlass/executions/v1/executions'
import { type Client, run, submit, worker } from './executions-fixture.ts'

/** Releases an execution of the worker `w` until the condition is met. */
export const park = (
  client: Client,
  w: ReturnType<typeof worker>,
  id: string,
  { generation, ...until }: Partial<Park> & { generation?: number },
) =>
  submit(client, {
    execution_id: id,
    with_log: false,
    body: {
      $case: 'release',
      value: {
        writer: w.writer(generation),
        park: { wake_at: undefined, wake_on: [], ...until },
        unclaimed_only: false,
      },
    },
  })

/** A worker with claimed executions. */
export async function claimed(
  client: Client,
  count = 1,
  fields = {},
): Promise<{ w: ReturnType<typeof worker>; ids: string[] }> {
  const w = worker(client)
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await run(client, fields)).execution_id)
  await w.lease({ limit: count })
  await Promise.all(ids.map((id) => w.claim(id)))
  return { w, ids }
}

export const leasedIds = async (w: ReturnType<typeof worker>) =>
  (await w.lease({ limit: 100 })).leases.map(({ execution }) => execution?.execution_id)
