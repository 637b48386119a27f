import { Client } from '../lib/http.mjs'

// The clock of requests is that of the page, which has a window; only what it reads of it is here.
globalThis.window ??= globalThis
globalThis.document ??= { hidden: false, addEventListener() {}, removeEventListener() {} }
const { Poll } = await import(
  new URL('../../packages/console/src/api/poll.ts', import.meta.url).href
)

const HOUR_MS = 3_600_000
const STREAM = '/events/stream?topics=executions,workers,schedules,approvals'
/** Events that arrive together are given to the screens together. */
const COLLECT_MS = 100

const ROUND_MS = 10_000
const iso = (ms) => new Date(ms).toISOString()
const rounded = (ms) => Math.ceil(ms / ROUND_MS) * ROUND_MS
const stats = (step) => () => {
  const to = rounded(Date.now())
  const stepMs = step * 1_000
  const from = Math.floor((to - HOUR_MS) / stepMs) * stepMs
  return `/executions/stats?from=${iso(from)}&to=${iso(to)}&step=${step}`
}
const failed = () =>
  `/executions?state=FAILED&finished_after=${iso(rounded(Date.now()) - HOUR_MS)}&limit=1`

/**
 * Requests of screens: path, milliseconds between two requests for changes (`gap`; `lost`: for changes that the stream
 * did not send as rows), topics of these, and by time while the stream is live.
 */
const SHELL = [{ path: '/me', live: 60_000 }]
const SCREENS = {
  stream: [],
  home: [
    ...['/executions?limit=8', '/executions?state=RUNNING&limit=1'].map(ofExecutions(3_000)),
    ...['/executions?state=PAUSED&limit=1', failed].map(ofExecutions(3_000)),
    { path: '/queue', gap: 10_000, topics: ['executions', 'workers'] },
    { path: '/workers', gap: 3_000, topics: ['workers'] },
    { path: '/approvals?status=pending&limit=100', gap: 3_000, topics: ['approvals'] },
    { path: '/schedules?limit=1000', gap: 10_000, topics: ['schedules'] },
    { path: stats(120), gap: 15_000, topics: ['executions'], live: 60_000 },
  ],
  executions: [
    { path: '/executions?limit=50&offset=0', gap: 10_000, lost: 2_000, topics: ['executions'] },
    { path: stats(60), gap: 15_000, topics: ['executions'], live: 60_000 },
    { path: '/me/views', live: 60_000 },
  ],
}

function ofExecutions(gap) {
  return (path) => ({ path, gap, topics: ['executions'] })
}

/** Opens a console on a screen; counts its requests and the frames of its stream. Returns what closes it. */
export async function openConsole(url, screen, counts) {
  const client = new Client(url, 6)
  const read = async (path) => {
    counts.requests++
    const { status, text } = await client.request('GET', typeof path === 'string' ? path : path())
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  }
  await read('/me')
  const changed = new Set()
  const lost = new Set()
  let timer
  const queries = [...SHELL, ...SCREENS[screen]].map((query) => ({
    ...{ gap: 0, lost: query.gap, topics: [], ...query },
    poll: new Poll(
      () => read(query.path),
      (error) => process.stderr.write(`${error}\n`),
      () => query.live,
      query.gap,
    ),
  }))
  const flush = () => {
    timer = undefined
    for (const query of queries)
      if (query.topics.some((topic) => lost.has(topic))) query.poll.soon(query.lost)
      else if (query.topics.some((topic) => changed.has(topic))) query.poll.soon(query.gap)
    changed.clear()
    lost.clear()
  }
  const leave = await client.stream('GET', STREAM, {
    onFrame(name, data) {
      counts.frames++
      if (name === 'skipped' || name === 'resync') lost.add(JSON.parse(data).topic)
      else changed.add(name)
      timer ??= setTimeout(flush, COLLECT_MS)
    },
  })
  return () => {
    clearTimeout(timer)
    for (const { poll } of queries) poll.stop()
    leave()
    client.close()
  }
}
