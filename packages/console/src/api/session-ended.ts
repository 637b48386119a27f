/** A 401 of any request: the session has ended. */
export const SESSION_ENDED = 'console:session-ended'
