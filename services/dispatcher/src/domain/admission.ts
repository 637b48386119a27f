import { conflict } from '@windlass/runtime/faults'

/** Who has a name now. */
export interface Holder {
  session_id: string
  instance: string
  /** Its stream is open, at a dispatcher that is alive. */
  live: boolean
}

export interface Applicant {
  name: string
  instance: string
  /** The session whose token was shown; empty for none. */
  proven_session_id: string
}

export type Admission = 'keeps its session' | 'begins a session'

/**
 * What a registration of a name that is taken means. Throws `conflict` while the holder's stream
 * is live, unless the applicant has the holder's token. The same process keeps its session, so
 * nothing it holds is taken from it.
 */
export function admit(holder: Holder, applicant: Applicant): Admission {
  if (holder.live && applicant.proven_session_id !== holder.session_id)
    throw conflict(`Worker '${applicant.name}' is connected already`)
  const same = applicant.instance !== '' && applicant.instance === holder.instance
  return same ? 'keeps its session' : 'begins a session'
}
