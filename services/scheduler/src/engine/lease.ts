/** A replica that has not settled a firing by then is taken to be dead. More than its calls may last. */
export const LEASE_MS = 12_000

/** How long the call may last that starts executions. */
export const SUBMIT_MS = 5_000

/**
 * Until when, by this process's monotonic clock, a firing taken now may be submitted by whoever took
 * it. A process that was stopped meanwhile finds that it is too late.
 */
export const submitDeadlineMs = (): number => performance.now() + LEASE_MS - SUBMIT_MS
