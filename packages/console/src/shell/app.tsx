import { StatusError } from '@windlass/api-client/errors'
import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useMe } from '../api/me.ts'
import { SESSION_ENDED } from '../api/session-ended.ts'
import { forgetAnswers } from '../api/shared-reading.ts'
import { runFeed } from '../live/feed.ts'
import { segmentsOf } from '../location/address.ts'
import { type Place, useArrival, usePlace } from '../location/location.ts'
import { ExecutionsScreen } from '../screens/executions.tsx'
import { Empty, Loading } from '../ui/feedback.tsx'
import { forgetRows } from '../ui/held-rows.ts'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { loadAgain } from './load-again.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

export interface ScreenProps {
  /** Decoded segments of the path after the first. */
  rest: string[]
  place: Place
}

type Screen = FunctionComponent<ScreenProps>

/** Screens that are read when they are first opened, by the first segment of their address. */
const SCREENS: Record<string, () => Promise<Screen>> = {
  home: async () => (await import('../screens/home.tsx')).HomeScreen,
  start: async () => (await import('../screens/start.tsx')).StartScreen,
  workflows: async () => (await import('../screens/workflows.tsx')).WorkflowsScreen,
  workflow: async () => (await import('../screens/workflow.tsx')).WorkflowScreen,
  workers: async () => (await import('../screens/workers.tsx')).WorkersScreen,
  worker: async () => (await import('../screens/worker.tsx')).WorkerScreen,
  approvals: async () => (await import('../screens/approvals.tsx')).ApprovalsScreen,
  schedules: async () => (await import('../screens/schedules.tsx')).SchedulesScreen,
  compare: async () => (await import('../screens/compare.tsx')).CompareScreen,
  fork: async () => (await import('../screens/fork.tsx')).ForkScreen,
  schedule: async () => (await import('../screens/schedule.tsx')).ScheduleScreen,
  execution: async () => (await import('../screens/execution.tsx')).ExecutionScreen,
  queue: async () => (await import('../screens/queue.tsx')).QueueScreen,
  access: async () => (await import('../screens/access.tsx')).AccessScreen,
  principal: async () => (await import('../screens/principal.tsx')).PrincipalScreen,
  roles: async () => (await import('../screens/roles.tsx')).RolesScreen,
  role: async () => (await import('../screens/role.tsx')).RoleScreen,
  secrets: async () => (await import('../screens/entries.tsx')).SecretsScreen,
  secret: async () => (await import('../screens/entry.tsx')).SecretScreen,
  configs: async () => (await import('../screens/entries.tsx')).ConfigsScreen,
  config: async () => (await import('../screens/entry.tsx')).ConfigScreen,
  audit: async () => (await import('../screens/audit.tsx')).AuditScreen,
  settings: async () => (await import('../screens/settings.tsx')).SettingsScreen,
}

const loaded = new Map<string, Screen>([['executions', ExecutionsScreen]])

/** Screens of one object, below the screen of all of them. */
const SINGLE: Record<string, string | undefined> = {
  executions: 'execution',
  workflows: 'workflow',
  workers: 'worker',
  access: 'principal',
  roles: 'role',
  secrets: 'secret',
  configs: 'config',
  schedules: 'schedule',
}

/** Screens that another entry of the navigation leads to. */
const BELOW: Record<string, string | undefined> = {
  start: 'workflows',
  roles: 'access',
  compare: 'executions',
  fork: 'executions',
}

const screenOf = (first: string, rest: string[]) =>
  (rest.length > 0 ? SINGLE[first] : undefined) ?? (first || 'home')

export function App() {
  const place = usePlace()
  useArrival(place)
  const [first = '', ...rest] = segmentsOf(place.path)
  const name = screenOf(first, rest)
  const { data, error, refresh } = useMe()
  // Before the first answer, a 401 of another request says nothing that this answer will not say.
  const isKnown = data !== undefined && error === undefined
  useEffect(() => {
    if (!isKnown) return
    window.addEventListener(SESSION_ENDED, refresh)
    return () => window.removeEventListener(SESSION_ENDED, refresh)
  }, [isKnown, refresh])
  const isSignedOut = error instanceof StatusError && error.status === 401
  const mayRead = data !== undefined && !isSignedOut
  useEffect(() => (mayRead ? runFeed() : undefined), [mayRead])
  if (isSignedOut) return <SignIn place={place} onSignedIn={() => renew(refresh)} />
  return (
    <Shell place={place} current={BELOW[first] ?? first}>
      <Opened name={name} rest={rest} place={place} />
    </Shell>
  )
}

/** The connection broke, or the files of the console have other names since an update of the server. */
const NotLoaded = () => (
  <div class="message empty" role="alert">
    <strong>This screen cannot be loaded</strong>
    <p>The connection broke, or the server has been updated since this page was opened.</p>
    <button type="button" class="primary" onClick={() => window.location.reload()}>
      Load the page again
    </button>
  </div>
)

const NoPage = ({ name }: { name: string }) => (
  <Page title="Not found">
    <Empty title={`There is no page "${name.slice(0, 60)}"`}>
      <p>
        <Link to="">Home</Link>
      </p>
    </Empty>
  </Page>
)

/** Another caller may read other things than those that are kept. */
function renew(refresh: () => void): void {
  forgetAnswers()
  forgetRows()
  refresh()
}

function Opened({ name, ...props }: ScreenProps & { name: string }): ComponentChildren {
  const [, setCount] = useState(0)
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    setFailed(false)
    const load = SCREENS[name]
    if (!load || loaded.has(name)) return
    const left = new AbortController()
    loadAgain(load, left.signal).then(
      (screen) => {
        loaded.set(name, screen)
        setCount((count) => count + 1)
      },
      () => setFailed(!left.signal.aborted),
    )
    return () => left.abort()
  }, [name])
  const Known = loaded.get(name)
  // What was typed, answered or opened about one object is not shown with another one.
  if (Known) return <Known key={[name, ...props.rest].join('/')} {...props} />
  if (hasFailed) return <NotLoaded />
  if (SCREENS[name]) return <Loading />
  return <NoPage name={name} />
}
