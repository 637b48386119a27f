/**
 * A queueing simulation of one cell. Executions arrive at random (a Poisson process); each visits
 *
 *   gateway, executions (create and lease), dispatcher, gateway, executions (last checkpoint), gateway
 *
 * A service is a queue before as many processors as it has replicas, with exponential service times. A visit of
 * `executions` then waits for the commit of its batch: while a replica writes one batch, what arrives forms the next
 * one. A batch takes a fixed time of a processor of PostgreSQL and a time for each command. Workers are not simulated.
 *
 * Returns latencies in ms, the utilization of each station, and the commits per execution.
 */
export function simulate({ rate, stations, cost, executions = 20_000, seed = 1 }) {
  const random = randomFrom(seed)
  const exponential = (mean) => -Math.log(1 - random()) * mean
  const clock = createClock()
  const queues = Object.fromEntries(
    Object.entries(stations).map(([name, servers]) => [name, createStation(clock, servers)]),
  )
  const writers = Array.from({ length: stations.executions }, () => ({
    waiting: [],
    isBusy: false,
  }))
  const latencies = []
  let commits = 0
  let finishedAt = 0

  const visit = (name, then) => queues[name].enter(exponential(cost[name]), then)
  const write = (writer) => {
    const batch = writer.waiting.splice(0)
    if (batch.length === 0) return
    writer.isBusy = true
    commits++
    const ms = exponential(cost.commit) + batch.length * cost.command
    queues.postgres.enter(ms, () => {
      writer.isBusy = false
      for (const then of batch) then()
      write(writer)
    })
  }
  const commit = (then) => {
    // Commands prefer one replica while it keeps up (packages/rpc/src/preferred-replica.ts).
    const writer = writers.find(({ waiting }) => waiting.length < PREFERRED) ?? writers[0]
    writer.waiting.push(then)
    if (!writer.isBusy) write(writer)
  }
  const steps = ['gateway', 'executions', 'dispatcher', 'gateway', 'executions', 'gateway']
  const advance = (begun, step) => {
    const name = steps[step]
    if (name === undefined) {
      latencies.push(clock.now() - begun)
      finishedAt = clock.now()
      return
    }
    const next = () => advance(begun, step + 1)
    visit(name, name === 'executions' ? () => commit(next) : next)
  }
  let at = 0
  for (let n = 0; n < executions; n++) {
    at += exponential(1_000 / rate)
    clock.schedule(at, () => advance(clock.now(), 0))
  }
  clock.run()
  const utilization = Object.fromEntries(
    Object.entries(queues).map(([name, queue]) => [
      name,
      queue.busyMs() / finishedAt / stations[name],
    ]),
  )
  // The system is empty at the start.
  const steady = latencies.slice(executions / 10)
  return { latencies: steady, utilization, commits: commits / executions }
}

/** Commands that wait at a replica before the next one is used. */
const PREFERRED = 64

/** A queue before `servers` processors. */
function createStation(clock, servers) {
  const waiting = []
  let busy = 0
  let total = 0
  const begin = ({ ms, then }) => {
    busy++
    total += ms
    clock.schedule(clock.now() + ms, () => {
      busy--
      if (waiting.length > 0) begin(waiting.shift())
      then()
    })
  }
  return {
    enter(ms, then) {
      if (busy < servers) begin({ ms, then })
      else waiting.push({ ms, then })
    },
    busyMs: () => total,
  }
}

/** Runs functions at simulated times, the earliest first (a binary heap). */
function createClock() {
  const heap = []
  let now = 0
  const swap = (a, b) => {
    const one = heap[a]
    heap[a] = heap[b]
    heap[b] = one
  }
  const rise = (at) => {
    for (let child = at; child > 0; ) {
      const parent = (child - 1) >> 1
      if (heap[parent].time <= heap[child].time) return
      swap(parent, child)
      child = parent
    }
  }
  const isEarlier = (a, b) => a < heap.length && heap[a].time < heap[b].time
  const sink = () => {
    for (let parent = 0; ; ) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2]
      const child = isEarlier(right, left) ? right : left
      if (!isEarlier(child, parent)) return
      swap(parent, child)
      parent = child
    }
  }
  return {
    now: () => now,
    schedule(time, run) {
      heap.push({ time, run })
      rise(heap.length - 1)
    },
    run() {
      while (heap.length > 0) {
        const { time, run } = heap[0]
        const last = heap.pop()
        if (heap.length > 0) {
          heap[0] = last
          sink()
        }
        now = time
        run()
      }
    },
  }
}

/** Random numbers from 0 to below 1, the same for the same seed (mulberry32). */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
