import { setTimeout as pause } from 'node:timers/promises'
import { openEventStream } from '@windlass/testkit/http'
import { type Failure, RetryingClient } from './retrying-client.ts'

export interface LoadOptions {
  url: string
  /** Begins the name of each run. */
  prefix: string
  /** Short runs a second, half of them synchronous. */
  rate: number
  /** Event streams that are open at any time, each of a long run. */
  streams: number
}

/** Results of a load at its clients. Times in ms of `performance.now()`. */
export interface Observed {
  /** Acknowledged executions: id to the name of the run. */
  acknowledged: Map<string, string>
  sent: number
  errors: Failure[]
  repeated: Failure[]
  /** Times from the first attempt to the answer of a synchronous run. */
  syncMs: number[]
  /** Moments at which a synchronous run was answered. */
  answers: number[]
  /** Event streams that reached the end of their run, and connections that they needed more than one each. */
  streams: number
  reconnects: number
}

const STREAM_MS = 120_000
const TERMINAL = /^workflow_(completed|failed|cancelled)$/

/** Starts a load of runs at a fixed rate and of followed runs. `stop` lets all of them end. */
export function startLoad({ url, prefix, rate, streams }: LoadOptions) {
  const client = new RetryingClient(url)
  const seen: Observed = {
    acknowledged: new Map(),
    sent: 0,
    errors: client.errors,
    repeated: client.repeated,
    syncMs: [],
    answers: [],
    streams: 0,
    reconnects: 0,
  }
  let isOver = false
  const running = new Set<Promise<void>>()

  const start = async (workflow: string, mode: 'sync' | 'async', name: string) => {
    seen.sent++
    const headers = { 'idempotency-key': name }
    const path = `/workflows/default/${workflow}/run/${mode}`
    const answer = await client.send('POST', path, { body: JSON.stringify(name), headers })
    if (answer) seen.acknowledged.set(answer.json.execution_id, name)
    return answer?.json
  }
  const short = async (n: number) => {
    const begun = performance.now()
    const mode = n % 2 === 0 ? 'sync' : 'async'
    const done = await start('short_run', mode, `${prefix}-s${n}`)
    if (mode === 'async' || !done) return
    if (done.state !== 'COMPLETED') client.error(`run ${n}: ${JSON.stringify(done)}`)
    seen.syncMs.push(performance.now() - begun)
    seen.answers.push(performance.now())
  }
  const shorts = async () => {
    const begun = performance.now()
    for (let n = 0; !isOver; n++) {
      await pause(Math.max(0, begun + (n * 1_000) / rate - performance.now()))
      const one = short(n).finally(() => running.delete(one))
      running.add(one)
    }
    await Promise.all(running)
  }
  const followAll = async (reader: number) => {
    for (let n = 0; !isOver; n++) {
      const begun = await start('long_run', 'async', `${prefix}-l${reader}-${n}`)
      if (begun) await follow(client, url, begun.execution_id, seen)
    }
  }
  const all = [shorts(), ...Array.from({ length: streams }, (_, reader) => followAll(reader))]
  return {
    seen,
    async stop(): Promise<Observed> {
      isOver = true
      await Promise.all(all)
      return seen
    },
  }
}

/** Follows an execution to its end and reconnects after the last event. No event may come twice. */
async function follow(
  client: RetryingClient,
  url: string,
  id: string,
  seen: Observed,
): Promise<void> {
  const read = { ids: [] as string[], hasEnded: false }
  const until = performance.now() + STREAM_MS
  const isLate = () => performance.now() > until
  while (!read.hasEnded && !isLate()) {
    const open = () => openAfterLast(`${url}/executions/${id}/events`, read)
    const stream = await client.repeat(`events of ${id}`, open)
    if (!stream) return
    while (!stream.ended && !read.hasEnded && !isLate()) await pause(20)
    stream.close()
    if (!read.hasEnded) seen.reconnects++
  }
  if (isLate()) client.error(`events of ${id}: no end`)
  if (new Set(read.ids).size !== read.ids.length) client.error(`events of ${id}: one came twice`)
  seen.streams++
}

/** Opens an event stream after the last event that was read. */
function openAfterLast(url: string, read: { ids: string[]; hasEnded: boolean }) {
  const last = read.ids.at(-1)
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
  return openEventStream(url, headers, (frame) => {
    if (frame.id !== '') read.ids.push(frame.id)
    read.hasEnded ||= TERMINAL.test(frame.event)
  })
}
