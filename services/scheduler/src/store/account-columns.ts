import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import { sql } from '@windlass/runtime/postgres/sql'

/**
 * Columns of `schedules s` with the account of its ticks. A named service account has the internal
 * issuer.
 */
export const accountColumns = sql`
  coalesce(s.run_as_service_account, s.changed_by) as run_as,
  s.changed_by = '' as is_anonymous,
  case when s.run_as_service_account is null then s.changed_by_issuer else ${INTERNAL_ISSUER}::text end as run_as_issuer`
