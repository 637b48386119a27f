import { Client } from '../lib/http.mjs'

// The clock of requests is that of the page, which has a window; only what it reads of it is here.
globalThis.window ??= globalThis
globalThis.document ??= { hidden: false, addEventListener() {}, removeEventListener() {} }
const page = (file) => import(new URL(`../../packages/console/src/${file}`, import.meta.url).href)
const { Poll } = await page('api/poll.ts')
const intervals = await page('api/intervals.ts')
const { CHARTS, COLLECT_MS, COUNTS, FAILED_LATELY, LIST, ME, QUEUE, SCHEDULES } = intervals

const HOUR_MS = 3_600_000
const STREAM = '/events/stream?topics=executions,workers,schedules,approvals'

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

/** A request of a screen, with its intervals and the topics whose changes it is sent for. */
const query = (path, { every, everyWhileLive }, ...topics) => ({
  ...{ path, gap: every, lost: every, live: everyWhileLive, topics },
})
/** A list of executions, whose rows come as events. */
const rows = (path) => ({
  ...query(path, LIST, 'executions'),
  ...{ gap: LIST.shownMs, lost: LIST.lostMs },
})
/** A request that is sent by time alone. */
const byTime = (path, { every }) => query(path, { every: 0, everyWhileLive: every })

const SHELL = [byTime('/me', ME)]
const SCREENS = {
  stream: [],
  home: [
    rows('/executions?limit=8'),
    query('/executions?state=RUNNING&limit=1', COUNTS, 'executions'),
    query('/executions?state=PAUSED&limit=1', COUNTS, 'executions'),
    query(failed, FAILED_LATELY, 'executions'),
    query('/queue', QUEUE, 'executions', 'workers'),
    query('/workers', COUNTS, 'workers'),
    query('/approvals?status=pending&limit=100', COUNTS, 'approvals'),
    query('/schedules?limit=1000', SCHEDULES, 'schedules'),
    query(stats(120), CHARTS, 'executions'),
  ],
  executions: [
    rows('/executions?limit=50&offset=0'),
    query(stats(60), CHARTS, 'executions'),
    query('/me/views', {}),
  ],
}

/** Options of a request whose answer may be so old. */
function acceptedAge({ maxMs } = { maxMs: 0 }) {
  const seconds = Math.floor(maxMs / 1_000)
  return seconds > 0 ? { headers: { 'cache-control': `max-age=${seconds}` } } : {}
}

/** Opens a console on a screen; counts its requests and the frames of its stream. Returns what closes it. */
export async function openConsole(url, screen, counts) {
  const client = new Client(url, 6)
  const read = async (path, age) => {
    counts.requests++
    const target = typeof path === 'string' ? path : path()
    const { status, headers, text } = await client.request('GET', target, acceptedAge(age))
    if (status !== 200) throw new Error(`${target}: ${status} ${text}`)
    if (!headers.age) return
    counts.repeated++
    age.ms = 1_000 * Number(headers.age)
  }
  await read('/me')
  const changed = new Set()
  const lost = new Set()
  let skipped = false
  let timer
  const queries = [...SHELL, ...SCREENS[screen]].map((query) => ({
    ...query,
    poll: new Poll(
      (_, age) => read(query.path, age),
      (error) => process.stderr.write(`${error}\n`),
      () => query.live,
      query.gap,
    ),
  }))
  const flush = () => {
    timer = undefined
    for (const query of queries)
      if (query.topics.some((topic) => lost.has(topic))) query.poll.soon(query.lost, skipped)
      else if (query.topics.some((topic) => changed.has(topic))) query.poll.soon(query.gap)
    changed.clear()
    skipped = false
    lost.clear()
  }
  const leave = await client.stream('GET', STREAM, {
    onFrame(name, data) {
      counts.frames++
      skipped ||= name === 'skipped'
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
