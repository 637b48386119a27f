import { conflict } from '@windlass/runtime/faults'

/** Who has a name now. */
export interface NameHolder {
  session_id: string
  instance: string
  /** Its stream is open, at a dispatcher that is alive. */
  has_live_stream: boolean
}

export interface NameApplicant {
  name: string
  instance: string
  /** The session whose token was shown; empty for none. */
  proven_session_id: string
}

export type NameClaim = 'keep_session' | 'new_session'

/**
 * What a registration of a name that is taken means. Throws `conflict` while the holder's stream
 * is live, unless the applicant has the holder's token. The same process keeps its session, so
 * nothing it holds is taken from it.
 */
export function resolveNameClaim(holder: NameHolder, applicant: NameApplicant): NameClaim {
  if (holder.has_live_stream && applicant.proven_session_id !== holder.session_id)
    throw conflict(`Worker '${applicant.name}' is connected already`)
  const isSameProcess = applicant.instance !== '' && applicant.instance === holder.instance
  return isSameProcess ? 'keep_session' : 'new_session'
}
