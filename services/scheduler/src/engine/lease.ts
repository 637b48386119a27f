/**
 * A firing that is not settled within this time is leased by another replica. Longer than all calls
 * of one attempt.
 */
export const LEASE_MS = 12_000

/** Timeout of the call that starts executions. */
export const SUBMIT_MS = 5_000

/**
 * Time on this process's monotonic clock before which a firing leased now may be submitted. A
 * process that was suspended in between finds the deadline passed and submits nothing.
 */
export const submitDeadlineMs = (): number => performance.now() + LEASE_MS - SUBMIT_MS
