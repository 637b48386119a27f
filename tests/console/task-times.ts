import type { Browser, Page } from 'playwright-core'

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

/**
 * Longest task of the page's main thread while `act` runs, in milliseconds of the processor: other than
 * elapsed time they do not grow with the load of the machine.
 */
export async function longestTask(
  browser: Browser,
  page: Page,
  act: () => Promise<unknown>,
): Promise<number> {
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
  return Math.round(Math.max(...times))
}
