import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Place } from '../location/location.ts'
import { announcedRegion } from '../ui/announce.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
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

const MENU = 'screens'

/**
 * The frame of every screen: the way past it for keyboards, the bar about access, the navigation. In a narrow window
 * a button opens the navigation, and it is closed when a screen was chosen or the focus leaves it.
 */
export function Shell({ current, children }: Props) {
  const [isOpen, setOpen] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const onFollow = () => {
    if (!isOpen) return
    setOpen(false)
    document.getElementById('main')?.focus()
  }
  const onKey = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !isOpen) return
    setOpen(false)
    opener.current?.focus()
  }
  const onLeave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    const isOutside =
      relatedTarget instanceof Node && !(currentTarget as Node).contains(relatedTarget)
    if (isOutside) setOpen(false)
  }
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <p {...announcedRegion} />
      <AccessBar />
      <div class="frame">
        <nav aria-label="Screens" onKeyDown={onKey} onFocusOut={onLeave}>
          <Link to="" class="brand" aria-label="Windlass, first page">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="8" />
              <path d="M7 10l4.5 13L16 12l4.5 11L25 10" />
            </svg>
            Windlass
          </Link>
          <button
            type="button"
            class="menu-button"
            ref={opener}
            aria-expanded={isOpen}
            aria-controls={MENU}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'close' : 'menu'} /> Menu
          </button>
          <div id={MENU} class={isOpen ? 'menu open' : 'menu'}>
            <ul>
              {ENTRIES.map(({ to, label, icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    aria-current={current === to ? 'page' : undefined}
                    onFollow={onFollow}
                  >
                    <Icon name={icon} />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
            <Foot />
          </div>
          <Keyboard />
        </nav>
        <main id="main" tabIndex={-1} aria-labelledby="title">
          {children}
        </main>
      </div>
    </>
  )
}
