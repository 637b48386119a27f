import { type ForkPlan, fork, planFork, seqOf } from '../api/repeats.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { Facts } from '../ui/facts.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { useAct } from '../ui/use-act.ts'

/** A fork of an execution after an entry of its log: first what would run again, then the fork itself. */
export function ForkScreen({ rest: [id = ''], place: { query } }: ScreenProps) {
  const entry = query.get('entry') ?? ''
  const answer = useQuery(`fork ${id} ${entry}`, async (signal) => {
    const after = await seqOf(id, entry, signal)
    return { after, plan: await planFork(id, after, signal) }
  })
  return (
    <Page
      title="Fork"
      aside={
        <Link to={executionAddress(id)} class="mono faint">
          {id}
        </Link>
      }
    >
      <p>
        A fork is a new execution that begins with the log of this one up to an entry. Calls whose
        outcome is there do not run again.
      </p>
      <Loaded answer={answer} lines={4}>
        {(found) => <Planned id={id} {...found} />}
      </Loaded>
    </Page>
  )
}

function Planned({ id, after, plan }: { id: string; after: number; plan: ForkPlan }) {
  const { isBusy, failure, act } = useAct()
  const { runs_again: again } = plan
  return (
    <>
      <Facts
        facts={[
          ['After entry', after],
          ['Entries that it begins with', count(plan.entries)],
          ['Calls that do not run again', count(plan.calls)],
        ]}
      />
      <section class="card" aria-label="Runs again">
        <h2>Runs again</h2>
        {again.length === 0 ? (
          <p class="faint">
            No call of this execution; the code after the last of them runs again.
          </p>
        ) : (
          <ol class="steps">
            {again.map(({ call_id, name }) => (
              <li key={call_id} title={call_id}>
                <bdi>{name}</bdi>
              </li>
            ))}
          </ol>
        )}
        {plan.cut && <p class="stale">More calls run again than are listed.</p>}
      </section>
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={isBusy}
          onClick={() => void act(async () => navigate(executionAddress(await fork(id, after))))}
        >
          <Icon name="flow" /> Start the fork
        </button>
      </div>
      {failure && (
        <p class="cause" role="alert">
          {failure}
        </p>
      )}
    </>
  )
}
