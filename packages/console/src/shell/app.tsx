import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { segmentsOf } from '../location/address.ts'
import { type Place, usePlace } from '../location/location.ts'
import { ExecutionsScreen } from '../screens/executions.tsx'
import { Failure, Loading } from '../ui/feedback.tsx'
import { Shell } from './shell.tsx'

export interface ScreenProps {
  /** Decoded segments of the path after the first. */
  rest: string[]
  place: Place
}

type Screen = FunctionComponent<ScreenProps>

/** Screens that are read when they are first opened, by the first segment of their address. */
const SCREENS: Record<string, () => Promise<Screen>> = {
  execution: async () => (await import('../screens/execution.tsx')).ExecutionScreen,
}

const loaded = new Map<string, Screen>([['executions', ExecutionsScreen]])

/** `executions/{id}` is a screen of its own. */
const screenOf = (first: string, rest: string[]) =>
  first === 'executions' && rest.length > 0 ? 'execution' : first || 'executions'

export function App() {
  const place = usePlace()
  const [first = '', ...rest] = segmentsOf(place.path)
  const name = screenOf(first, rest)
  return (
    <Shell place={place} current={first || 'executions'}>
      <Opened name={name} rest={rest} place={place} />
    </Shell>
  )
}

function Opened({ name, ...props }: ScreenProps & { name: string }): ComponentChildren {
  const [, setCount] = useState(0)
  const [error, setError] = useState<Error>()
  useEffect(() => {
    setError(undefined)
    const load = SCREENS[name]
    if (!load || loaded.has(name)) return
    load().then((screen) => {
      loaded.set(name, screen)
      setCount((count) => count + 1)
    }, setError)
  }, [name])
  const Known = loaded.get(name)
  if (Known) return <Known {...props} />
  if (error) return <Failure error={error} onRetry={() => window.location.reload()} />
  if (SCREENS[name]) return <Loading />
  return <Failure error={new Error(`There is no page "${name.slice(0, 60)}".`)} />
}
