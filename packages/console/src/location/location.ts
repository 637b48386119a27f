/**
 * The address is the state of the console: its path names the screen, its query every filter, tab and
 * selection. Nothing that a screen shows is kept elsewhere, so an address can be shared.
 */
import { useEffect, useState } from 'preact/hooks'

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

/** Changes the address; `replace` leaves no entry in the history, for what is typed. */
export function navigate(to: string, { replace = false } = {}): void {
  const url = new URL(to, root())
  if (url.href === window.location.href) return
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  window.dispatchEvent(new Event(CHANGED))
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
