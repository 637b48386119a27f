import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { loadAgain } from './load-again.ts'

/**
 * A part of a screen whose script is read after the screen is shown; nothing until then. The screen's own
 * requests are sent before, because a browser has few connections to a server.
 */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let known: FunctionComponent<Props> | undefined
  return (props) => {
    const [, setLoaded] = useState(known !== undefined)
    useEffect(() => {
      // Another use of the part may have read it since this one was first drawn.
      if (known) {
        setLoaded(true)
        return
      }
      const left = new AbortController()
      const read = () =>
        loadAgain(load, left.signal).then(
          (part) => {
            known = part
            setLoaded(true)
          },
          () => undefined,
        )
      // Effects of a part run before those of its screen.
      const timer = setTimeout(read)
      return () => {
        clearTimeout(timer)
        left.abort()
      }
    }, [])
    const Known = known
    return Known ? <Known {...props} /> : null
  }
}
