import { expect, test } from 'vitest'
import { ALL_LOST, type ListEvent } from './list-event.ts'
import { type FeedDeps, type Message, SharedFeed } from './shared-feed.ts'

const row = (id: string, revision = 1): ListEvent => ({
  ...{ kind: 'row', topic: 'executions', id, revision, row: { execution_id: id } },
})

/** Tabs of one browser: a lock, a channel, a clock, and the streams that are open. */
class Browser {
  readonly streams: { tab: string; handlers: Parameters<FeedDeps['read']>[0] }[] = []
  readonly #channels = new Set<(message: Message) => void>()
  readonly #timers = new Set<() => void>()
  #queue: (() => Promise<void>)[] = []
  #isHeld = false
  #now = 0

  open(name: string, changes: Partial<FeedDeps> = {}) {
    const feed = new SharedFeed({
      read: (handlers) => this.#read(name, handlers),
      lead: (run, signal) => this.#lead(run, signal),
      openChannel: (receive) => this.#openChannel(receive),
      every: (_, run) => {
        this.#timers.add(run)
        return () => this.#timers.delete(run)
      },
      now: () => this.#now,
      ...changes,
    })
    const events: ListEvent[] = []
    const states: boolean[] = []
    feed.subscribe(
      (all) => events.push(...all),
      () => states.push(feed.isLive),
    )
    feed.start()
    return { feed, events, states }
  }

  /** The only stream that is open. */
  get stream() {
    expect(this.streams).toHaveLength(1)
    return this.streams[0] as (typeof this.streams)[0]
  }

  pass(ms: number): void {
    this.#now += ms
    for (const run of this.#timers) run()
  }

  async #read(tab: string, handlers: Parameters<FeedDeps['read']>[0]): Promise<void> {
    const stream = { tab, handlers }
    this.streams.push(stream)
    await new Promise((resolve) => handlers.signal.addEventListener('abort', resolve))
    this.streams.splice(this.streams.indexOf(stream), 1)
  }

  async #lead(run: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#queue.push(async () => {
        this.#isHeld = true
        if (!signal.aborted) await run()
        this.#isHeld = false
        resolve()
        this.#next()
      })
      this.#next()
    })
  }

  #next(): void {
    if (!this.#isHeld) void this.#queue.shift()?.()
  }

  #openChannel(receive: (message: Message) => void) {
    this.#channels.add(receive)
    return {
      post: (message: Message) => {
        for (const other of this.#channels) if (other !== receive) other(structuredClone(message))
      },
      close: () => this.#channels.delete(receive),
    }
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve))

test('three tabs: one stream, whose events reach all, and each knows that it is live', async () => {
  const browser = new Browser()
  const tabs = ['a', 'b', 'c'].map((name) => browser.open(name))
  const { handlers } = browser.stream
  handlers.onState(true)
  handlers.onEvents([row('x')], '8')
  for (const { feed, events } of tabs) {
    expect(feed.isLive).toBe(true)
    expect(events.at(-1)).toEqual(row('x'))
  }
})

test('the leader is closed: the next tab resumes behind the last event, and no list is read again', async () => {
  const browser = new Browser()
  const [a, b] = [browser.open('a'), browser.open('b')]
  browser.stream.handlers.onState(true)
  browser.stream.handlers.onEvents([row('x')], '8')
  const before = b.events.length
  a.feed.stop()
  await settled()
  expect([browser.stream.tab, browser.stream.handlers.after]).toEqual(['b', '8'])
  browser.stream.handlers.onState(true)
  browser.stream.handlers.onEvents([row('y')], '9')
  expect(b.events.slice(before)).toEqual([row('y')])
  expect(a.events).not.toContainEqual(row('y'))
})

test('a stream that does not resume: every list is read again, in every tab', () => {
  const browser = new Browser()
  const tabs = [browser.open('a'), browser.open('b')]
  browser.stream.handlers.onState(true)
  for (const { events } of tabs) expect(events).toEqual(expect.arrayContaining(ALL_LOST))
})

test('a tab that joins late: learns that it is live, and reads its lists once', () => {
  const browser = new Browser()
  browser.open('a')
  browser.stream.handlers.onState(true)
  const late = browser.open('b')
  expect([late.feed.isLive, late.events]).toEqual([true, ALL_LOST])
  browser.pass(5_000)
  expect(late.events).toEqual(ALL_LOST)
})

test('the stream is lost and resumes: every tab polls meanwhile, and reads nothing again', () => {
  const browser = new Browser()
  const [a, b] = [browser.open('a'), browser.open('b')]
  const { handlers } = browser.stream
  handlers.onState(true)
  handlers.onEvents([row('x')], '8')
  const before = b.events.length
  handlers.onState(false)
  expect([a.feed.isLive, b.feed.isLive]).toEqual([false, false])
  handlers.onState(true)
  expect([a.states, b.states]).toEqual([
    [true, false, true],
    [true, false, true],
  ])
  expect(b.events).toHaveLength(before)
})

test('the leader hangs: the others poll after some seconds, and are live again when it continues', () => {
  const browser = new Browser()
  const frozen = { run: () => {} }
  browser.open('a', {
    every: (_, run) => {
      frozen.run = run
      return () => {}
    },
  })
  const b = browser.open('b')
  browser.stream.handlers.onState(true)
  browser.pass(10_000)
  expect(b.feed.isLive).toBe(true)
  browser.pass(5_000)
  expect(b.feed.isLive).toBe(false)
  const before = b.events.length
  frozen.run()
  expect(b.feed.isLive).toBe(true)
  expect(b.events.slice(before)).toEqual(ALL_LOST)
})

test.each([
  ['no lock', { lead: undefined }],
  ['a lock that is forbidden', { lead: () => Promise.reject(new Error('SecurityError')) }],
  ['no channel', { openChannel: () => undefined }],
])('%s: each tab has a stream of its own', async (_, changes) => {
  const browser = new Browser()
  const [a, b] = [browser.open('a', changes), browser.open('b', changes)]
  await settled()
  expect(browser.streams.map(({ tab }) => tab)).toEqual(['a', 'b'])
  browser.streams[1]?.handlers.onState(true)
  expect([a.feed.isLive, b.feed.isLive]).toEqual([false, true])
})

test('a tab that is hidden: has no stream and is not live; visible again it resumes', async () => {
  const browser = new Browser()
  const { feed, states } = browser.open('a')
  browser.stream.handlers.onState(true)
  browser.stream.handlers.onEvents([row('x')], '8')
  feed.stop()
  await settled()
  expect([browser.streams.length, feed.isLive]).toEqual([0, false])
  feed.start()
  feed.start()
  await settled()
  expect(browser.stream.handlers.after).toBe('8')
  browser.stream.handlers.onState(true)
  expect(states).toEqual([true, false, true])
})

test('another caller signs in: nothing is resumed', async () => {
  const browser = new Browser()
  const { feed } = browser.open('a')
  browser.stream.handlers.onEvents([row('x')], '8')
  feed.stop({ forget: true })
  feed.start()
  await settled()
  expect(browser.stream.handlers.after).toBeUndefined()
})

test('a stream that was left: its last words count no more', async () => {
  const browser = new Browser()
  const { feed, events } = browser.open('a')
  const { handlers } = browser.stream
  feed.stop()
  handlers.onState(true)
  handlers.onEvents([row('x')], '8')
  expect([feed.isLive, events]).toEqual([false, []])
})
