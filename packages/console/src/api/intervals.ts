/**
 * Milliseconds between two requests of Home and of the list of executions: without a stream, and for changes (`every`),
 * and for what moves without an event (`everyWhileLive`). bench/consoles sends the same requests.
 */
export const ME = { every: 60_000 }
export const COUNTS = { every: 3_000 }
export const FAILED_LATELY = { every: 3_000, everyWhileLive: 60_000 }
export const QUEUE = { every: 10_000 }
export const SCHEDULES = { every: 10_000 }
export const CHARTS = { every: 15_000, everyWhileLive: 60_000 }
/** For changes that were sent as rows, which the list shows already, and for others. */
export const LIST = { every: 2_000, shownMs: 10_000, lostMs: 2_000 }

/** Events that arrive together are given to the screens together. */
export const COLLECT_MS = 100
