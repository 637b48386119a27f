import type { WatchedPage } from './watched-page.ts'

/** Findings of axe, and what is wider than the window, in a wide and in a narrow one. */
export async function flawsOf(one: WatchedPage): Promise<string[]> {
  const flaws: string[] = []
  for (const width of [1_280, 320]) {
    await one.page.setViewportSize({ width, height: 800 })
    flaws.push(...(await one.findings()))
    const excess = (await one.contentWidth()) - width
    if (excess > 0) flaws.push(`${excess} pixels too wide at ${width}`)
  }
  await one.page.setViewportSize({ width: 1_280, height: 800 })
  return flaws
}
