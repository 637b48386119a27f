import { useMe } from '../api/me.ts'
import { Icon } from '../ui/icon.tsx'

/** Says that authentication is off, and how to turn it on. */
export function AccessBar() {
  const { data } = useMe()
  if (!data || data.features.authentication) return null
  return (
    <section class="access-bar" aria-label="Access">
      <Icon name="warning" />
      <span>
        Authentication is off: everyone who reaches this address may do everything. To turn it on:{' '}
        <code>npm start -- --auth</code>
      </span>
    </section>
  )
}
