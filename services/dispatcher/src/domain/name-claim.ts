import { conflict, Fault } from '@windlass/runtime/faults'

/** Process that holds a worker name. */
export interface NameHolder {
  session_id: string
  instance: string
  /** True if its stream is held by a dispatcher that is alive. */
  has_live_stream: boolean
}

/** Process that registers the name. */
export interface NameApplicant {
  name: string
  instance: string
  /** Session whose token was presented; empty: none. */
  proven_session_id: string
  /** True: it presented no other credential. */
  renewal?: boolean | undefined
}

/** Anything shorter may be a number or a name that several processes share. */
const MIN_RANDOM_CHARS = 16

export type NameClaim = 'keep_session' | 'new_session'

/**
 * Decides the registration of a name that is taken. Throws `conflict` while the holder's stream is live,
 * unless the applicant presents the holder's token, or a bootstrap or worker token with the random id of
 * the holder's process: the session may have ended (`session_max_age`) while its stream is open. The same
 * process (`instance`) keeps its session and thus its executions; any other process gets a new session, and
 * the work of the earlier one is released. Throws `forbidden` if the session token alone is presented for a
 * new session.
 */
export function resolveNameClaim(holder: NameHolder, applicant: NameApplicant): NameClaim {
  const { instance } = applicant
  const isSameProcess = instance !== '' && instance === holder.instance
  const isProven =
    applicant.proven_session_id === holder.session_id ||
    (isSameProcess && instance.length >= MIN_RANDOM_CHARS)
  if (holder.has_live_stream && !isProven)
    throw conflict(`Worker '${applicant.name}' is connected already`)
  if (isSameProcess) return 'keep_session'
  if (applicant.renewal)
    throw new Fault(
      'forbidden',
      'A session token renews the registration of its own process only; register with a bootstrap token',
    )
  return 'new_session'
}
