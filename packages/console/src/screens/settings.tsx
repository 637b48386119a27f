import { type Me, useMe } from '../api/me.ts'
import { bytes, count } from '../format/time.ts'
import { KeySwitch, KeyTable } from '../palette/key-table.tsx'
import { SessionList } from '../settings/session-list.tsx'
import { ThemeSwitch } from '../shell/theme-switch.tsx'
import { Facts } from '../ui/facts.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Page } from '../ui/page.tsx'

/** The caller, its sessions and rights, the look, the keys, and the limits of the server. */
export function SettingsScreen() {
  const answer = useMe()
  return (
    <Page title="Settings">
      <Loaded answer={answer}>{(me) => <Detail me={me} />}</Loaded>
    </Page>
  )
}

function Detail({ me }: { me: Me }) {
  const { features, limits } = me
  return (
    <>
      <h2>You</h2>
      <Facts
        facts={[
          ['Name', me.subject],
          ['Issuer', me.issuer ?? '–'],
          ['Roles', me.roles.join(', ') || 'none'],
        ]}
      />
      {features.authentication && <SessionList />}
      <details class="card">
        <summary>Your permissions ({me.permissions.length})</summary>
        <ul class="mono columns">
          {me.permissions.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </details>
      <h2>Look</h2>
      <div class="card">
        <ThemeSwitch />
      </div>
      <h2>Keys</h2>
      <div class="card">
        <KeySwitch />
      </div>
      <KeyTable />
      <h2>Server</h2>
      <Facts
        facts={[
          ['Version', me.server_version],
          ['Authentication', features.authentication ? 'on' : 'off'],
          ['Identity provider (OIDC)', features.oidc ? 'on' : 'off'],
          ['Largest request', bytes(limits.max_body_bytes)],
          ['Largest source file', bytes(limits.max_workflow_upload_bytes)],
          ['Rows of a page', `at most ${count(limits.max_page)}`],
        ]}
      />
    </>
  )
}
