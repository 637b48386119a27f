import { readFileSync } from 'node:fs'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** In a block, so that it can be evaluated again. */
const SCRIPT = `{${readFileSync(new URL('contrast-flaws.js', import.meta.url), 'utf8')}}`

async function evaluate<T>(page: Page, expression: string): Promise<T> {
  await page.evaluate(SCRIPT)
  return await page.evaluate<T>(`contrastFlaws.${expression}()`)
}

/** Chosen entries that look like others, parts of pictures that are faint, and bars that look alike. */
export const contrastFlaws = (page: Page) => evaluate<string[]>(page, 'all')

const MAX_TABS = 200

/** Controls that Tab reaches and whose focus nothing shows. */
export async function hiddenFocus(page: Page): Promise<string[]> {
  await page.locator('main').focus()
  const flaws: string[] = []
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press('Tab')
    const hidden = await evaluate<string>(page, 'focus')
    if (hidden === 'end') return flaws
    if (hidden) flaws.push(hidden)
  }
  throw new Error(`the focus does not leave the page after ${MAX_TABS} tabs`)
}

interface AxeResult {
  violations: { nodes: { html: string; failureSummary: string }[] }[]
}

/** Texts with a contrast of less than 7:1, which is more than level AA asks for. */
export async function textsBelowSeven(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResult>(
    'axe.run(document, { runOnly: ["color-contrast-enhanced"] })',
  )
  return violations.flatMap(({ nodes }) =>
    nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
  )
}
