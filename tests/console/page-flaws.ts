import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** Finds flaws in a page; evaluated there like axe. In a block, so that it can be evaluated again. */
const SCRIPT = `{${readFileSync(new URL('page-flaws.js', import.meta.url), 'utf8')}}`

async function evaluate<T>(page: Page, expression: string): Promise<T> {
  await page.evaluate(SCRIPT)
  return await page.evaluate<T>(`pageFlaws.${expression}()`)
}

/**
 * Finds what a reader loses in the window as it is: content that is wider than the page, text that is cut off or drawn over
 * other text, and controls that are covered or cannot be scrolled to.
 */
export const layoutFlaws = async (page: Page): Promise<string[]> => [
  ...new Set(await evaluate<string[]>(page, 'seen')),
]

/** Tables without heads, charts without a table, pictures without a text. */
export const pictureFlaws = (page: Page) => evaluate<string[]>(page, 'heard')

/** The control with the focus, if no part of it can be seen; empty if it can, and `end` if it is outside of the page. */
export const coveredControl = (page: Page) => evaluate<string>(page, 'focus')
