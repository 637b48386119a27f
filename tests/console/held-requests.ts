import type { Page, Route } from 'playwright-core'
import { expect, vi } from 'vitest'

/** Holds requests of a page until they are released. */
export async function hold(page: Page, matches: (url: URL, method: string) => boolean) {
  const held: Route[] = []
  let isHolding = true
  await page.route('**/*', (route) => {
    const request = route.request()
    if (isHolding && matches(new URL(request.url()), request.method())) held.push(route)
    else void route.continue()
  })
  return {
    untilHeld: () => vi.waitFor(() => expect(held.length).toBeGreaterThan(0), { timeout: 60_000 }),
    async release() {
      isHolding = false
      for (const route of held) await route.continue()
    },
  }
}
