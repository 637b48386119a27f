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
export const OWN_ISSUER = 'svc'

export const NOBODY: Caller = { subject: '', issuer: '' }

/** How a caller is written down; who is nobody in particular is anonymous. */
export const writtenAs = ({ subject, issuer }: Caller) =>
  subject === '' ? { subject: 'anonymous', issuer: OWN_ISSUER } : { subject, issuer }
