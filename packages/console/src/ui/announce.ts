import { useEffect } from 'preact/hooks'

const REGION = 'announced'
const SHOWN_MS = 1_000

/** Properties of the element in which texts for screen readers appear; it exists once, as long as the page does. */
export const announcedRegion = { id: REGION, role: 'status', class: 'visually-hidden' } as const

/** Has screen readers say a text, which is shown elsewhere: readers miss regions that arrive together with their text. */
export function announce(text: string): void {
  const region = document.getElementById(REGION)
  if (!region) return
  region.textContent = text
  // Who reads on from there does not find what is no longer so.
  setTimeout(() => {
    if (region.textContent === text) region.textContent = ''
  }, SHOWN_MS)
}

/** Announces a text when it appears and when it changes; undefined announces nothing. */
export function useAnnounced(text: string | undefined): void {
  useEffect(() => {
    if (text !== undefined) announce(text)
  }, [text])
}
