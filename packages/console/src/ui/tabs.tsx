import type { ComponentChildren } from 'preact'
import { Link } from './link.tsx'

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
export const Tabs = ({ label, tabs, current, to }: Props) => (
  <nav class="tabs" aria-label={label}>
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
