import type { CDPSession, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Points of a drag; a browser decides after the first ones whether it scrolls. */
const STEPS = 8
/** A finger that rests before it leaves: the content would scroll on, and the next tap would only stop it. */
const REST_MS = 100

/** A person with a touch screen: nothing is pressed but by a finger, and text is typed on its keyboard. */
export class TouchUser {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  async tap(target: Locator): Promise<void> {
    await target.tap()
  }

  /** Taps a field and replaces its text. */
  async fill(field: Locator, text: string): Promise<void> {
    await field.tap()
    await field.fill(text)
  }

  /** Opens a screen with the menu. */
  async go(name: string): Promise<void> {
    await this.tap(this.#page.getByRole('button', { name: 'Menu' }))
    const screens = this.#page.getByRole('navigation', { name: 'Screens' })
    await this.tap(screens.getByRole('link', { name, exact: true }))
    await this.heading(name)
  }

  async heading(name: string | RegExp): Promise<void> {
    await this.#page.getByRole('heading', { level: 1, name }).waitFor()
    await expect.poll(() => this.#page.getByLabel('Loading').count()).toBe(0)
  }

  /** Drags a finger over an element, between parts of its width and height from 0 to 1. */
  async drag(target: Locator, from: [x: number, y: number], to: [x: number, y: number]) {
    await target.scrollIntoViewIfNeeded()
    const box = await target.boundingBox()
    if (!box) throw new Error(`not on the screen: ${target}`)
    const session: CDPSession = await this.#page.context().newCDPSession(this.#page)
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', part?: number) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: part === undefined ? [] : [between(box, from, to, part)],
      })
    await send('touchStart', 0)
    for (let step = 1; step <= STEPS; step++) await send('touchMove', step / STEPS)
    await this.#page.waitForTimeout(REST_MS)
    await send('touchMove', 1)
    await send('touchEnd')
    await session.detach()
  }
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

const between = (box: Box, from: [number, number], to: [number, number], part: number) => ({
  x: box.x + box.width * (from[0] + (to[0] - from[0]) * part),
  y: box.y + box.height * (from[1] + (to[1] - from[1]) * part),
})
