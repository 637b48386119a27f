/**
 * The address is the state of the console: its path names the screen, its query every filter, tab and
 * selection. Nothing that a screen shows is kept elsewhere, so an address can be shared.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Place {
  /** Below /console/, without slashes at its ends. */
  path: string
  query: URLSearchParams
}

const CHANGED = 'console:place'

const root = () => new URL('.', document.baseURI)

function readPlace(): Place {
  const { pathname, search } = window.location
  const below = pathname.startsWith(root().pathname) ? pathname.slice(root().pathname.length) : ''
  return { path: below.replace(/^\/+|\/+$/g, ''), query: new URLSearchParams(search) }
}

const content = () => document.getElementById('main')

/** State of an entry of the history. */
interface Entry {
  /** Pixels by which the content was scrolled when it was left. */
  top: number
}

/** Changes the address; `replace` leaves no entry in the history, for what is typed. */
export function navigate(to: string, { replace = false } = {}): void {
  const url = new URL(to, root())
  if (url.href === window.location.href) return
  if (replace) history.replaceState(history.state, '', url)
  else {
    const left: Entry = { top: content()?.scrollTop ?? 0 }
    history.replaceState(left, '')
    history.pushState(null, '', url)
  }
  window.dispatchEvent(new Event(CHANGED))
}

/**
 * With each new path, begins at the top of the content, or where it was left if the browser goes back, and moves
 * the focus there: keys then scroll it, and Tab reaches its first control.
 */
export function useArrival(path: string): void {
  const last = useRef(path)
  useLayoutEffect(() => {
    if (last.current === path) return
    last.current = path
    content()?.focus({ preventScroll: true })
    content()?.scrollTo(0, (history.state as Entry | null)?.top ?? 0)
  }, [path])
}

/** The current address; the component renders again when it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(readPlace)
  useEffect(() => {
    const update = () => setPlace(readPlace())
    window.addEventListener('popstate', update)
    window.addEventListener(CHANGED, update)
    return () => {
      window.removeEventListener('popstate', update)
      window.removeEventListener(CHANGED, update)
    }
  }, [])
  return place
}
