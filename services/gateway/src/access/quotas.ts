import { quotaExceeded, quotaKeys } from '@windlass/domain/quota-exceeded'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Teardown } from '@windlass/runtime/process/teardown'
import type { Redis } from '@windlass/runtime/redis/redis'
import type { Caller } from './caller.ts'
import { toPrincipal } from './caller.ts'
import { HeldQuota, type Holder } from './held-quota.ts'
import { createUsageRate } from './usage-rate.ts'

export type Quotas = ReturnType<typeof createQuotas>

type Limits = Settings['quotas']

/**
 * Maximum number of bulk acts of one principal: each holds up to 10,000 rows in memory, about ten
 * megabytes.
 */
const MAX_BULK_ACTS = 4

/** The quotas of principals and namespaces. */
export function createQuotas({ quotas }: Settings, redis: Redis, teardown: Teardown) {
  const streams = new HeldQuota({ name: 'event_streams', redis })
  const waits = new HeldQuota({ name: 'waiting_runs', redis })
  const bulkActs = new HeldQuota({ name: 'bulk_acts', redis })
  teardown.add('quotas', () => {
    bulkActs.stop()
    streams.stop()
    waits.stop()
  })
  const uploads = createUsageRate('uploads_per_hour', redis)
  const holders = (
    what: 'event_streams' | 'waiting_runs' | 'uploads_per_hour',
    caller: Caller,
    namespaces: readonly string[],
  ): Holder[] => [
    { key: principalKey(caller), limit: quotas[`principal_${what}`] },
    ...namespaces.map((namespace) => ({
      key: quotaKeys.namespace(namespace),
      limit: quotas[`namespace_${what}`],
    })),
  ]
  return {
    limits: quotas,
    /** Counts an open event stream, of one namespace or of none; returns the function that releases it. */
    takeStream: (caller: Caller, ...namespaces: string[]) =>
      streams.take(holders('event_streams', caller, namespaces)),
    /** Counts a run or resume that waits for its result; returns the function that releases it. */
    takeWait: (caller: Caller, namespace: string) =>
      waits.take(holders('waiting_runs', caller, [namespace])),
    /** Counts a bulk act or its dry run; returns the function that releases it. */
    takeBulkAct: (caller: Caller) =>
      bulkActs.take([{ key: principalKey(caller), limit: MAX_BULK_ACTS }]),
    countUpload: async (caller: Caller, namespaces: readonly string[]) => {
      for (const holder of holders('uploads_per_hour', caller, namespaces))
        await uploads.count(holder)
    },
  }
}

export const principalKey = (caller: Caller) => {
  const { subject, issuer } = toPrincipal(caller)
  return quotaKeys.principal(issuer ?? '', subject)
}

/** Throws if a holder that has `used` of something may have no more. */
export function requireBelow(name: string, { key, limit }: Holder, used: number): void {
  if (limit > 0 && used >= limit) throw quotaExceeded(name, key, limit)
}

export type { Limits }
