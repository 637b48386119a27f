import { useEffect, useState } from 'preact/hooks'

/** True while the window matches a media query. */
export function useMedia(query: string): boolean {
  const [isMatched, setMatched] = useState(() => window.matchMedia(query).matches)
  useEffect(() => {
    const list = window.matchMedia(query)
    const update = () => setMatched(list.matches)
    update()
    list.addEventListener('change', update)
    return () => list.removeEventListener('change', update)
  }, [query])
  return isMatched
}
