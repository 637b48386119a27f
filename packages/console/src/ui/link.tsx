import type { ComponentChildren } from 'preact'
import { navigate } from '../location/location.ts'

interface Props {
  /** An address of the console, relative to it. */
  to: string
  class?: string | undefined
  title?: string | undefined
  'aria-label'?: string | undefined
  'aria-current'?: 'page' | 'true' | undefined
  /** Called when it is followed in this tab. */
  onFollow?: (() => void) | undefined
  children: ComponentChildren
}

/** A link within the console; with a modifier or another button the browser opens it as usual. */
export function Link({ to, onFollow, children, ...rest }: Props) {
  const follow = (event: MouseEvent) => {
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey)
    if (!isPlain || event.altKey || event.defaultPrevented) return
    event.preventDefault()
    navigate(to)
    onFollow?.()
    document.getElementById('main')?.scrollTo(0, 0)
  }
  return (
    <a {...rest} href={to} onClick={follow}>
      {children}
    </a>
  )
}
