import { useMemo, useState } from 'preact/hooks'
import { type ForkPlan, fork, planFork, seqOf } from '../api/repeats.ts'
import { send } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { toExecution } from '../exact/execution.ts'
import { count } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { problemOfJson } from '../start/form.ts'
import { JsonInput } from '../start/json-input.tsx'
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
    const path = `/executions/${encodeURIComponent(id)}`
    const [plan, execution] = await Promise.all([
      planFork(id, after, signal),
      send({ method: 'GET', path }, signal),
    ])
    return { after, plan, input: toExecution(execution).input }
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

interface Props {
  id: string
  after: number
  plan: ForkPlan
  /** Exact text of the input of the execution. */
  input: string
}

function Planned({ id, after, plan, input }: Props) {
  const { isBusy, failure, act } = useAct()
  const [text, setText] = useState(input)
  const problem = useMemo(() => problemOfJson(text), [text])
  // The same input is not sent: the server takes it from the execution, whatever its size.
  const changes = text === input ? {} : { input: text }
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
      <details class="card">
        <summary>With another input</summary>
        <JsonInput text={text} problem={problem} onChange={setText} />
        <p class="faint">Calls whose outcome is in the log keep it, whatever the input is.</p>
      </details>
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={isBusy || problem !== undefined}
          onClick={() =>
            void act(async () => navigate(executionAddress(await fork(id, after, changes))))
          }
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
