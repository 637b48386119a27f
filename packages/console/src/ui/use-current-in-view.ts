import { useEffect } from 'preact/hooks'

/** Scrolls a row of links that is wider than the window to the current one, when that changes. */
export function useCurrentInView(row: { current: HTMLElement | null }, current: string): void {
  useEffect(() => {
    const link = row.current?.querySelector('[aria-current="page"]')
    link?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
}
