import { unavailable } from '@windlass/runtime/faults'
import { countByOwner, type Owner } from '../store/schedules.ts'
import type { SchedulerDeps } from './deps.ts'

/** Throws `unavailable` if the principal or the namespace has reached its number of schedules. */
export async function requireScheduleQuota(
  { db, quotas }: Pick<SchedulerDeps, 'db' | 'quotas'>,
  owner: Owner,
): Promise<void> {
  const { principal_schedules, namespace_schedules } = quotas
  if (principal_schedules === 0 && namespace_schedules === 0) return
  const counts = await countByOwner(db, owner)
  if (principal_schedules > 0 && counts.of_principal >= principal_schedules)
    throw exceeded('The principal', principal_schedules)
  if (namespace_schedules > 0 && counts.in_namespace >= namespace_schedules)
    throw exceeded(`The namespace '${owner.namespace}'`, namespace_schedules)
}

const exceeded = (who: string, limit: number) =>
  unavailable(`${who} has reached its quota of ${limit} schedules; delete some, then retry.`)
