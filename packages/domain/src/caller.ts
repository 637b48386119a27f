/** On whose behalf a call is made: a principal, as the gateway or the scheduler knows it. */
export interface Caller {
  /** Empty for nobody in particular: authentication is off. */
  subject: string
  /** Where the subject is known by that name. */
  issuer: string
  /** Of the API key that was shown. */
  key_prefix?: string
}

/** Where principals come from that no other issuer vouches for. */
export const INTERNAL_ISSUER = 'svc'

export const ANONYMOUS_CALLER: Caller = { subject: '', issuer: '' }

/** How a caller is written down; who is nobody in particular is anonymous. */
export const toRecordedCaller = ({ subject, issuer }: Caller) =>
  subject === '' ? { subject: 'anonymous', issuer: INTERNAL_ISSUER } : { subject, issuer }
