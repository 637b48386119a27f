import type { CDPSession, Page } from 'playwright-core'

const CPU_RATE = 4
const LATENCY_MS = 150

/** Makes the processor of a page four times as slow, and each of its requests last 150 ms longer. */
export async function slowDown(cdp: CDPSession): Promise<void> {
  await cdp.send('Network.enable')
  const unlimited = { downloadThroughput: -1, uploadThroughput: -1 }
  await cdp.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: LATENCY_MS, ...unlimited },
  })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: CPU_RATE })
}

/** Times of a request in milliseconds: when it was sent, and when its answer had arrived. */
interface Exchange {
  name: string
  sent: number
  answered: number
}

const EXCHANGES = `['navigation', 'resource']
  .flatMap((type) => performance.getEntriesByType(type))
  .map(({ name, requestStart, responseEnd }) => ({ name, sent: requestStart, answered: responseEnd }))`

/**
 * Requests of a page that were sent one after the other, up to the first one whose address contains `part`:
 * each was sent after the answer to the one before.
 */
export async function roundTrips(page: Page, part: string): Promise<number> {
  const all = await page.evaluate<Exchange[]>(EXCHANGES)
  const last = all.find(({ name }) => name.includes(part))
  if (!last) throw new Error(`no request for ${part}`)
  const before = all
    .filter(({ answered }) => answered <= last.sent)
    .sort((a, b) => a.answered - b.answered)
  let count = 1
  let answered = 0
  for (const one of before)
    if (one.sent >= answered) {
      count++
      answered = one.answered
    }
  return count
}
