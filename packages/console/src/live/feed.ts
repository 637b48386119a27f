/** The stream of lists of this browser, with the means of the platform. */
import { COLLECT_MS } from '../api/intervals.ts'
import { readMe } from '../api/me.ts'
import { follow } from '../api/server.ts'
import { SESSION_ENDED } from '../api/session-ended.ts'
import { areSkipped, type ListEvent, type Topic, toListEvents, topicsFor } from './list-event.ts'
import type { LiveSource } from './live-source.ts'
import { type FeedDeps, type Message, SharedFeed } from './shared-feed.ts'
import { followStream } from './stream.ts'

const readLists: FeedDeps['read'] = ({ after, signal, onEvents, onState }) => {
  let collected: ListEvent[] = []
  let cursor: string | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const events = collected
    collected = []
    if (events.length > 0) onEvents(events, cursor)
  }
  signal.addEventListener('abort', () => clearTimeout(timer))
  return followStream({
    after,
    signal,
    async *open({ after: from, ...connection }) {
      // The rights may have changed since the last connection: one topic too many is refused.
      const { permissions } = await readMe(signal)
      const query = { topics: topicsFor(permissions).join(',') }
      yield* follow('/events/stream', { after: from, query, ...connection })
    },
    onEvent(event) {
      collected.push(...toListEvents(event))
      if (event.id !== '' && event.id !== '0') cursor = event.id
      timer ??= setTimeout(flush, COLLECT_MS)
    },
    onState(isLive) {
      flush()
      onState(isLive)
    },
    onRefused({ status }) {
      if (status === 401) window.dispatchEvent(new Event(SESSION_ENDED))
    },
  })
}

/** Names are those of an origin, below which several servers may have paths. */
const nameOf = () => `windlass-lists-1 ${new URL('.', document.baseURI).pathname}`

/** Undefined on addresses that are not secure, and where storage is forbidden. */
function tabLock(): FeedDeps['lead'] {
  const locks = typeof navigator === 'undefined' ? undefined : navigator.locks
  if (!locks) return undefined
  return async (run, signal) => {
    await locks.request(nameOf(), { signal }, run)
  }
}

function openChannel(receive: (message: Message) => void) {
  try {
    const channel = new BroadcastChannel(nameOf())
    channel.onmessage = ({ data }) => receive(data as Message)
    return {
      post: (message: Message) => channel.postMessage(message),
      close: () => channel.close(),
    }
  } catch {
    return undefined
  }
}

export const feed = new SharedFeed({
  read: readLists,
  lead: tabLock(),
  openChannel,
  every(ms, run) {
    const timer = setInterval(run, ms)
    return () => clearInterval(timer)
  },
  now: () => performance.now(),
})

/** Takes part while the tab is visible, until the returned function is called. */
export function runFeed(): () => void {
  const update = () => (document.hidden ? feed.stop() : feed.start())
  const leave = () => feed.stop()
  document.addEventListener('visibilitychange', update)
  window.addEventListener('pagehide', leave)
  window.addEventListener('pageshow', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    window.removeEventListener('pagehide', leave)
    window.removeEventListener('pageshow', update)
    feed.stop({ forget: true })
  }
}

const listSource = (...topics: readonly Topic[]): LiveSource => ({
  get isLive() {
    return feed.isLive
  },
  subscribe: (onChange, onState) =>
    feed.subscribe((events) => {
      const own = events.filter(({ topic }) => topics.includes(topic))
      if (own.length > 0) onChange(undefined, areSkipped(own))
    }, onState),
})

/** Changes of each list. */
export const lists: Record<Topic, LiveSource> = {
  executions: listSource('executions'),
  workers: listSource('workers'),
  schedules: listSource('schedules'),
  approvals: listSource('approvals'),
}

/** Changes of the ready queue: of executions, and of the workers that could run them. */
export const queueChanges = listSource('executions', 'workers')
