import { useEffect, useState } from 'preact/hooks'
import { serverNow } from '../api/server-clock.ts'

/** The current time, which advances each second while the page is visible. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (!document.hidden) setNow(serverNow())
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
