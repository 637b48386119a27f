/**
 * The address is the state of the console: its path names the screen, its query every filter, tab and
 * selection. Nothing that a screen shows is kept elsewhere, so an address can be shared.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { returnedTo, setReturned } from './returned.ts'
import { holdScrollPlace, readScrollPlace, type ScrollPlace } from './scroll-place.ts'

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

/** Number of screens that were opened; one that was left and opened again counts twice. */
let visits = 0
let lastPath: string | undefined

function countVisit(): void {
  const { path } = readPlace()
  if (path !== lastPath) visits++
  lastPath = path
}

const content = () => document.getElementById('main')

/** Changes the address; `replace` leaves no entry in the history, for what is typed. */
export function navigate(to: string, { replace = false } = {}): void {
  const url = new URL(to, root())
  if (url.href === window.location.href) return
  setReturned(undefined)
  if (replace) history.replaceState(history.state, '', url)
  else {
    const main = content()
    // The state of an entry of the history: where it was left.
    history.replaceState(main && readScrollPlace(main), '')
    history.pushState(null, '', url)
  }
  countVisit()
  window.dispatchEvent(new Event(CHANGED))
}

/**
 * Returns what changes the address when an answer has arrived: not if the person has gone to another screen meanwhile.
 */
export function navigateFromHere(): (to: string) => void {
  countVisit()
  const here = visits
  return (to) => {
    if (visits === here) navigate(to)
  }
}

/**
 * With each new path, begins at the top of the content, and moves the focus there: keys then scroll it, and Tab
 * reaches its first control. If the browser goes back, the content is where it was left.
 */
export function useArrival({ path, query }: Place): void {
  const last = useRef(path)
  useLayoutEffect(() => {
    const isOther = last.current !== path
    last.current = path
    const main = content()
    const place = returnedTo()
    if (isOther) main?.focus({ preventScroll: true })
    if (main && place) return holdScrollPlace(main, place)
    if (isOther) main?.scrollTo(0, 0)
    return undefined
  }, [path, query.toString()])
}

/** The current address; the component renders again when it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(readPlace)
  useEffect(() => {
    const update = () => setPlace(readPlace())
    const goBack = () => {
      countVisit()
      setReturned((history.state as ScrollPlace | null) ?? undefined)
      update()
    }
    window.addEventListener('popstate', goBack)
    window.addEventListener(CHANGED, update)
    return () => {
      window.removeEventListener('popstate', goBack)
      window.removeEventListener(CHANGED, update)
    }
  }, [])
  return place
}
