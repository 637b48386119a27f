import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useAnnounced } from './announce.ts'

interface Props {
  title: string
  /** Beside the title: counts, states. */
  aside?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A screen: its title, which is the window's too, its actions and its content. */
export function Page({ title, aside, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Windlass`
  }, [title])
  // The focus moves to the content before the title is known.
  useAnnounced(title)
  return (
    <>
      <header class="page-head">
        <h1 id="title">{title}</h1>
        {aside}
        {actions && <div class="actions">{actions}</div>}
      </header>
      <div class="page-body">{children}</div>
    </>
  )
}
