import type { ScrollPlace } from './scroll-place.ts'

let place: ScrollPlace | undefined

/** Returns the place at which the screen was left; undefined if it was not reached by going back to it. */
export const returnedTo = (): ScrollPlace | undefined => place

/** Called with each change of the address. */
export function setReturned(to: ScrollPlace | undefined): void {
  place = to
}
