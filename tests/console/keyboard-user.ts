import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

const MAX_TABS = 150

/** A person who has a keyboard only: every key is counted, and nothing is focused but by keys. */
export class KeyboardUser {
  readonly #page: Page
  keys = 0

  constructor(page: Page) {
    this.#page = page
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      this.keys++
      await this.#page.keyboard.press(key)
    }
  }

  async type(text: string): Promise<void> {
    this.keys += text.length
    await this.#page.keyboard.type(text)
  }

  /** Replaces the text of the field that has the focus. */
  async replace(text: string): Promise<void> {
    await this.press('Control+a')
    await this.type(text)
  }

  /** Presses Tab until the element has the focus. */
  async tabTo(target: Locator): Promise<void> {
    await target.waitFor()
    const isThere = () =>
      target.evaluate((element) => element === element.ownerDocument.activeElement)
    for (let tabs = 0; !(await isThere()); tabs++) {
      if (tabs === MAX_TABS) throw new Error(`not reached by Tab: ${target}`)
      await this.press('Tab')
    }
  }

  async enter(target: Locator): Promise<void> {
    await this.tabTo(target)
    await this.press('Enter')
  }

  /** Opens what the palette finds for a text. */
  async open(text: string, heading: string | RegExp): Promise<void> {
    await this.press('Control+k')
    await this.#page.getByLabel('Screen, workflow, execution or action').waitFor()
    await this.type(text)
    await this.press('Enter')
    await this.heading(heading)
  }

  /** Goes to a screen by `g` and its letter. */
  async go(letter: string, heading: string): Promise<void> {
    await this.press('g', letter)
    await this.heading(heading)
  }

  async heading(name: string | RegExp): Promise<void> {
    await this.#page.getByRole('heading', { level: 1, name }).waitFor()
    await expect.poll(() => this.#page.getByLabel('Loading').count()).toBe(0)
  }
}
