/** A principal on whose behalf a call is made, as the gateway or the scheduler authenticated it. */
export interface Caller {
  /** Empty for the anonymous caller: authentication is off. */
  subject: string
  /** Issuer that assigned the subject. */
  issuer: string
  /** Prefix of the API key of the request. */
  key_prefix?: string
}

/** Issuer of principals without an external issuer. */
export const INTERNAL_ISSUER = 'svc'

export const ANONYMOUS_CALLER: Caller = { subject: '', issuer: '' }

/** The caller as records show it; a caller without a subject is `anonymous`. */
export const toRecordedCaller = ({ subject, issuer }: Caller) =>
  subject === '' ? { subject: 'anonymous', issuer: INTERNAL_ISSUER } : { subject, issuer }
