import { useEffect, useState } from 'preact/hooks'
import { serverNow } from '../api/server-clock.ts'

const SECOND_MS = 1_000
const listeners = new Set<() => void>()
let timer: number | undefined

function tick(): void {
  if (!document.hidden) for (const listener of listeners) listener()
}

/**
 * A text that depends on the current time. One timer serves all of them, and a component renders again
 * only when its own text changes, so a list of a thousand times costs nothing in most seconds.
 */
export function useTimeText(textAt: (now: number) => string): string {
  const [text, setText] = useState(() => textAt(serverNow()))
  useEffect(() => {
    const update = () => setText(textAt(serverNow()))
    update()
    listeners.add(update)
    timer ??= window.setInterval(tick, SECOND_MS)
    return () => {
      listeners.delete(update)
      if (listeners.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [textAt])
  return text
}
