import type { ComponentChild, FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { loadAgain } from './load-again.ts'

/** In the place of a part whose script cannot be read. */
const Nothing = () => null

/**
 * A part of a screen whose script is read after the screen is shown; until then its placeholder, which should
 * be as high if something is below it. The screen's own requests are sent before, because a browser has few
 * connections to a server.
 */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  placeholder: ComponentChild = null,
): FunctionComponent<Props> {
  let known: FunctionComponent<Props> | undefined
  return (props) => {
    const [Part, setPart] = useState(() => known)
    useEffect(() => {
      if (Part) return
      const left = new AbortController()
      const read = () =>
        loadAgain(load, left.signal).then(
          (part) => {
            known = part
            setPart(() => part)
          },
          () => setPart(() => Nothing),
        )
      // Effects of a part run before those of its screen.
      const timer = setTimeout(read)
      return () => {
        clearTimeout(timer)
        left.abort()
      }
    }, [])
    return <>{Part ? <Part {...props} /> : placeholder}</>
  }
}
