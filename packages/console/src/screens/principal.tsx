import { KeyList } from '../access/key-list.tsx'
import {
  deletePrincipal,
  getPrincipal,
  grantRole,
  listRoles,
  type Principal,
  revokeRole,
  switchPrincipal,
} from '../api/access.ts'
import { useRefusal } from '../api/permissions.ts'
import { useQuery } from '../api/use-query.ts'
import { address, roleAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { choiceProblem } from '../ui/choice-problem.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { useAct } from '../ui/use-act.ts'

/** Issuer of the principals of this server. */
const INTERNAL = 'svc'

/** One principal: its roles and its API keys. */
export function PrincipalScreen({ rest: [subject = ''], place: { query } }: ScreenProps) {
  const ref = { subject, external_issuer: query.get('issuer') || INTERNAL }
  const answer = useQuery(`principal ${JSON.stringify(ref)}`, (signal) => getPrincipal(ref, signal))
  return (
    <Page
      title={subject}
      aside={
        answer.data && (
          <>
            <StatusBadge status={answer.data.enabled ? 'active' : 'disabled'} />
            <span class="faint">
              {answer.data.type.replace('_', ' ')} of {answer.data.external_issuer}
            </span>
          </>
        )
      }
      actions={answer.data && <Actions principal={answer.data} onDone={answer.refresh} />}
    >
      <Loaded answer={answer}>
        {(principal) => (
          <>
            <Roles principal={principal} onDone={answer.refresh} />
            {principal.type === 'service_account' && <KeyList principal={principal} />}
            <p>
              <Link to={address('audit', { actor: subject })}>What it did</Link>, as the audit log
              has it
            </p>
          </>
        )}
      </Loaded>
    </Page>
  )
}

interface Props {
  principal: Principal
  onDone: () => void
}

function Actions({ principal, onDone }: Props) {
  const refusal = useRefusal('admin:principals:manage')
  const { isBusy, failure, act } = useAct()
  const change = (request: () => Promise<unknown>) => act(request).finally(onDone)
  return (
    <>
      {failure && (
        <span class="failure-text" role="alert">
          {failure}
        </span>
      )}
      {principal.enabled ? (
        <ConfirmButton
          label="Disable"
          icon="lock"
          {...{ isBusy, refusal }}
          question={`Disable ${principal.subject}?`}
          text="Its keys, tokens and sessions are refused at once. It keeps its roles and can be enabled again."
          confirm="Disable the principal"
          onConfirm={() => change(() => switchPrincipal(principal, 'disable'))}
        />
      ) : (
        <button
          type="button"
          aria-label={`Enable ${principal.subject}`}
          disabled={isBusy || refusal !== undefined}
          title={refusal}
          onClick={() => change(() => switchPrincipal(principal, 'enable'))}
        >
          Enable
        </button>
      )}
      <ConfirmButton
        label="Delete"
        icon="close"
        {...{ isBusy, refusal }}
        question={`Delete ${principal.subject}?`}
        text="Its API keys and roles are deleted with it. This cannot be taken back."
        confirm="Delete the principal"
        onConfirm={() =>
          act(async () => {
            const go = navigateFromHere()
            await deletePrincipal(principal)
            go('access')
          })
        }
      />
    </>
  )
}

function Roles({ principal, onDone }: Props) {
  const refusal = useRefusal('admin:principals:manage')
  const { isBusy, failure, act } = useAct()
  const cannotRead = useRefusal('admin:roles:read')
  const known = useQuery(cannotRead ? undefined : 'roles', listRoles)
  const others = known.data?.filter(({ name }) => !principal.roles.includes(name))
  const problem = choiceProblem(
    { data: others, error: known.error },
    { refusal: cannotRead, empty: 'It has every role' },
  )
  const change = (request: () => Promise<unknown>) => act(request).finally(onDone)
  return (
    <section class="card" aria-label="Roles">
      <h2>Roles</h2>
      {principal.roles.length === 0 && <p class="faint">It has none, and so no permission.</p>}
      <ul class="removable">
        {principal.roles.map((role) => (
          <li key={role}>
            <Link to={roleAddress(role)}>{role}</Link>
            <ConfirmButton
              label="Revoke"
              icon="close"
              {...{ isBusy, refusal }}
              sharesRefusal
              question={`Revoke ${role} of ${principal.subject}?`}
              text={effectOf(known.data?.find(({ name }) => name === role)?.permissions)}
              confirm="Revoke the role"
              onConfirm={() => change(() => revokeRole(principal, role))}
            />
          </li>
        ))}
      </ul>
      <form
        class="filters"
        aria-label="Grant a role"
        onSubmit={(event) => {
          event.preventDefault()
          const role = new FormData(event.currentTarget).get('role')
          if (role) void change(() => grantRole(principal, String(role)))
        }}
      >
        <label class="text-filter">
          <span>Grant</span>
          <select name="role" required disabled={problem !== undefined}>
            {/* Without it, the browser would choose another role once the chosen one has been granted. */}
            <option value="">choose a role</option>
            {others?.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button
          type="submit"
          disabled={isBusy || refusal !== undefined || problem !== undefined}
          title={refusal ?? problem}
        >
          Grant the role
        </button>
        <Refusal text={refusal ?? problem} />
      </form>
      <FailureText text={failure} />
    </section>
  )
}

const effectOf = (permissions: readonly string[] | undefined) =>
  permissions === undefined
    ? 'It loses the permissions of this role, unless another of its roles has them.'
    : `It loses ${permissions.join(', ') || 'no permission'}, unless another of its roles has them.`
