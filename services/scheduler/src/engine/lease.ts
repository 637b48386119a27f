/**
 * Another replica leases a firing that is not settled within this time. Longer than all calls of one
 * attempt.
 */
export const LEASE_MS = 12_000

/** Timeout of the call that starts executions. */
export const SUBMIT_MS = 5_000

/**
 * A create that executions began before its time limit has committed or failed after this time: longer than its
 * statements may take.
 */
export const CREATE_MS = 20_000

/**
 * Time on this process's monotonic clock before which a firing that is leased now may be submitted. A
 * process that was suspended in the meantime finds that the deadline has passed and submits nothing.
 */
export const submitDeadlineMs = (): number => performance.now() + LEASE_MS - SUBMIT_MS
