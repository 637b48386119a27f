import type { Browser, CDPSession, Page } from 'playwright-core'

interface TraceEvent {
  name: string
  pid: number
  tid: number
  /** Microseconds of the processor; absent for events without a duration. */
  tdur?: number
  args?: { name?: string }
}

const TASKS = new Set(['RunTask', 'ThreadControllerImpl::RunTask'])
const MICROSECONDS = 1_000

/** Tasks of a page's main thread, in milliseconds of the processor. */
interface TaskTimes {
  longest: number
  total: number
}

/** Longest task of the page's main thread while `act` runs, in milliseconds of the processor. */
export const longestTask = async (browser: Browser, page: Page, act: () => Promise<unknown>) =>
  (await taskTimes(browser, page, act)).longest

/**
 * Measures the tasks of the page's main thread while `act` runs. Times of the processor do not grow with
 * the load of the machine, as elapsed times do.
 */
export async function taskTimes(
  browser: Browser,
  page: Page,
  act: () => Promise<unknown>,
): Promise<TaskTimes> {
  await browser.startTracing(page, {
    categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'],
  })
  await act()
  const trace = JSON.parse((await browser.stopTracing()).toString('utf8')) as {
    traceEvents: TraceEvent[]
  }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const mains = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  )
  const times = trace.traceEvents
    .filter((event) => TASKS.has(event.name) && mains.has(threadOf(event)))
    .map(({ tdur = 0 }) => tdur / MICROSECONDS)
  if (times.length === 0) throw new Error('the trace has no task of a page')
  // As arguments of Math.max some hundred thousand times would overflow the stack.
  const longest = times.reduce((max, ms) => Math.max(max, ms), 0)
  return { longest: Math.round(longest), total: Math.round(times.reduce((sum, ms) => sum + ms, 0)) }
}

/** Megabytes of a page's heap after a collection. */
export async function heapMegabytes(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.enable')
  await cdp.send('HeapProfiler.collectGarbage')
  const { usedSize } = await cdp.send('Runtime.getHeapUsage')
  return Math.round(usedSize / 1e6)
}
