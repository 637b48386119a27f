/**
 * Heartbeats and eviction: when a silent worker loses its executions.
 *
 * Problem. A worker that died must not keep executions; a worker that lives must not lose them because
 * a dispatcher was stalled, the database was unavailable, or nothing ran at all for a while. Several
 * dispatchers run, their clocks differ, and a pong may reach any of them.
 *
 *   worker          gateway            dispatcher (any)              PostgreSQL
 *     │ ◄── ping ────────────────────────── stream, every heartbeat_interval (10 s)
 *     │ ── pong ─────► │ batches of 50 ms ──► HeartbeatBuffer            │
 *     │                                          │ tick, 1 s: one statement
 *     │                                          ├── pongs with their age ─► last_seen_at
 *     │                                          └── replica is alive ─────► replicas.seen_at
 *
 *   last pong                                         heartbeat_timeout + eviction_grace_period (40 s)
 *     ├─────────────────────── silence ──────────────────────┤ next tick of any dispatcher
 *                                                            ▼
 *     one transaction: connection_generation + 1, evicted_at, release_generation, worker_evicted
 *                                                            │
 *          signal `evicted`: the stream closes ◄─────────────┼─► release loop: Requeue until answered
 *
 * The database decides:
 *  - silence: `last_seen_at` is compared with `now()` in one statement; no process sends a clock time. A
 *    pong is stored as `now()` minus its age, and `last_seen_at` never decreases, so pongs may arrive in
 *    any order at any dispatcher;
 *  - which dispatcher evicts: the row lock. Locked rows are skipped, so one hung transaction delays the
 *    eviction of one worker, not of all (invariant D5);
 *  - what was lost: `release_generation` is the generation of the lost connection. Requeue returns the
 *    work of that connection and earlier ones; work of a later connection stays (ADR 4). The column is
 *    cleared only after Requeue was answered, so each dispatcher can continue after a crash.
 *
 * Local time may only bound or delay. It comes from the monotonic clock, as differences within one
 * process: the age of a buffered pong (at most about a tick), and this guard. The guard never causes an
 * eviction; it postpones the evictions of its own process.
 *
 * The guard. Ticks should be at most a second apart. A longer gap between two ticks that succeeded means
 * that this process was stalled or could not reach the database: pongs may be waiting in its sockets, or
 * in the buffers of others that could not write either. The workers get that time back: no eviction for
 * the length of the gap, at most for `eviction_after_ms`.
 *
 *   tick  tick  tick ····· stalled 20 s ····· tick  tick ······ 20 s ······ evictions allowed
 *     1s    1s                                  └─ evict_from_ms = now + 20 s
 *
 * A start counts as a gap since the last sign of life of any dispatcher (`secondsSinceAnyReplica`): after
 * an hour without dispatchers, every worker gets the full `eviction_after_ms`. A rolling restart leaves no
 * gap, so evictions continue.
 *
 * Guaranteed:
 *  - a worker whose pongs reach some dispatcher within the timeout is not evicted, even if another
 *    dispatcher was paused for less than `heartbeat_timeout` (invariant D4);
 *  - a dead worker is evicted by any dispatcher that runs, once for each loss, with its event;
 *  - progress with any number of silent workers: batches of 100, longest silence first, pongs are written
 *    between batches (invariant D5; `npm run test:chaos` evicts 100,000).
 *
 * Not guaranteed:
 *  - that an evicted worker has stopped. It may still run the workflow; the claim generation fences its
 *    writes, and the worker drops the execution at the first 409;
 *  - an upper limit for eviction during an outage of the database: nothing is decided without it.
 *
 * | failure | consequence |
 * | --- | --- |
 * | a pong is lost | the next one, 10 s later, is early enough: three fit into `heartbeat_timeout` |
 * | a dispatcher dies | its buffer is lost: at most a tick of pongs; its streams count as live for 5 s |
 * | NATS is unavailable | the stream of an evicted worker closes at the next tick instead of at once |
 * | executions is unavailable | the worker is evicted; `release_generation` stays until Requeue is answered |
 * | the database is unavailable | no evictions; afterwards the guard gives the time of the outage back |
 *
 * Measurements (bench/README.md, two virtual cores): 5,000 idle workers answer 500 pings a second; all
 * services together commit 9.2 transactions a second for them, PostgreSQL uses 1.5 % of a core. That is
 * why pongs are buffered, at the price of a `last_seen_at` that is up to a second old.
 *
 * Rejected:
 *  - a write for each pong: 500 row updates and commits a second for an idle fleet of that size;
 *  - a deadline in the memory of the dispatcher that holds the stream: a restart would forget it, and
 *    pongs arrive at other dispatchers;
 *  - eviction on disconnect: a reconnect after a network failure would cost every execution of the
 *    worker. A closed stream ends offers and frees the name; the work stays with the worker. Workers
 *    that promise to reconnect are evicted some seconds after (departures.ts);
 *  - the work returned inside the eviction: executions may be unavailable, and a transaction would be open
 *    for the time of a remote call. The event is an outbox row instead, Requeue is repeated (as in ADR 2).
 */

/** State of the guard. Times are monotonic milliseconds. */
export interface EvictionGuard {
  /** Time of the last successful tick. */
  polled_at_ms: number
  /** Evictions are allowed from this time. */
  evict_from_ms: number
}

export interface StallLimits {
  /** Longest normal time between two ticks. */
  gap_ms: number
  /** Silence after which a worker is evicted; also the longest postponement. */
  eviction_after_ms: number
}

/** Returns the guard after a tick at `now_ms`: a gap longer than normal postpones evictions by its length. */
export function afterPoll(guard: EvictionGuard, now_ms: number, limits: StallLimits) {
  const gap_ms = now_ms - guard.polled_at_ms
  const postponed_ms = gap_ms > limits.gap_ms ? Math.min(gap_ms, limits.eviction_after_ms) : 0
  return {
    polled_at_ms: now_ms,
    evict_from_ms: Math.max(guard.evict_from_ms, now_ms + postponed_ms),
  }
}

export const canEvict = ({ evict_from_ms }: EvictionGuard, now_ms: number): boolean =>
  now_ms >= evict_from_ms
