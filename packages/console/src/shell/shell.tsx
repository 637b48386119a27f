import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Place } from '../location/location.ts'
import { announcedRegion } from '../ui/announce.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { useCurrentInView } from '../ui/use-current-in-view.ts'
import { AccessBar } from './access-bar.tsx'
import { Foot } from './foot.tsx'
import { Keyboard } from './keyboard.tsx'

interface Entry {
  to: string
  label: string
  icon: IconName
}

const ENTRIES: Entry[] = [
  { to: '', label: 'Home', icon: 'home' },
  { to: 'executions', label: 'Executions', icon: 'list' },
  { to: 'workflows', label: 'Workflows', icon: 'flow' },
  { to: 'queue', label: 'Queue', icon: 'queue' },
  { to: 'approvals', label: 'Approvals', icon: 'check' },
  { to: 'schedules', label: 'Schedules', icon: 'clock' },
  { to: 'workers', label: 'Workers', icon: 'worker' },
  { to: 'secrets', label: 'Secrets', icon: 'key' },
  { to: 'configs', label: 'Configs', icon: 'sliders' },
  { to: 'access', label: 'Access', icon: 'people' },
  { to: 'audit', label: 'Audit', icon: 'scroll' },
  { to: 'settings', label: 'Settings', icon: 'gear' },
]

interface Props {
  place: Place
  /** The first segment of the address. */
  current: string
  children: ComponentChildren
}

/** The frame of every screen: the way past it for keyboards, the bar about access, the navigation. */
export function Shell({ current, children }: Props) {
  const list = useRef<HTMLUListElement>(null)
  useCurrentInView(list, current)
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <p {...announcedRegion} />
      <AccessBar />
      <div class="frame">
        <nav aria-label="Screens">
          <Link to="" class="brand" aria-label="Windlass, first page">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="8" />
              <path d="M7 10l4.5 13L16 12l4.5 11L25 10" />
            </svg>
            Windlass
          </Link>
          <ul ref={list}>
            {ENTRIES.map(({ to, label, icon }) => (
              <li key={to}>
                <Link to={to} aria-current={current === to ? 'page' : undefined}>
                  <Icon name={icon} />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
          <Foot />
          <Keyboard />
        </nav>
        <main id="main" tabIndex={-1} aria-labelledby="title">
          {children}
        </main>
      </div>
    </>
  )
}
