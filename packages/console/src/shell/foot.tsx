import { signOut, useMe } from '../api/me.ts'
import { serverUrl } from '../api/server.ts'
import { ThemeSwitch } from './theme-switch.tsx'

/** Below the navigation: the caller, the version, the look, and the way out. */
export function Foot() {
  const { data } = useMe()
  return (
    <div class="nav-foot">
      {data?.features.authentication && (
        <>
          <span title={data.roles.join(', ')}>
            <bdi>{data.subject}</bdi>
          </span>
          <button type="button" class="quiet" onClick={() => void signOut()}>
            Sign out
          </button>
        </>
      )}
      <ThemeSwitch />
      <a href={`${serverUrl()}/docs`} aria-label="API documentation">
        API
      </a>
      {data && <span>Windlass {data.server_version}</span>}
    </div>
  )
}
