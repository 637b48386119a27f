import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Link } from './link.tsx'
import { useCurrentInView } from './use-current-in-view.ts'

interface Tab {
  name: string
  label: ComponentChildren
}

interface Props {
  label: string
  tabs: readonly Tab[]
  current: string
  to: (name: string) => string
}

/** Parts of a screen as links: the chosen one is in the address. */
export function Tabs({ label, tabs, current, to }: Props) {
  const row = useRef<HTMLElement>(null)
  useCurrentInView(row, current)
  return (
    <nav class="tabs" aria-label={label} ref={row}>
      {tabs.map((tab) => (
        <Link
          key={tab.name}
          to={to(tab.name)}
          aria-current={tab.name === current ? 'page' : undefined}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}
