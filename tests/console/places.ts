import type { Locator } from 'playwright-core'

/** Pixels by which fonts of other machines may change the height of a part. */
export const TOLERANCE_PX = 8

/** Pixels from the top of the window; NaN if the element is not shown. */
export const topOf = async (target: Locator): Promise<number> =>
  (await target.boundingBox())?.y ?? Number.NaN
