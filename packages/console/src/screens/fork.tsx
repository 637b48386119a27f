import { useMemo, useState } from 'preact/hooks'
import { type Again, type ForkPlan, fork, planFork, seqOf } from '../api/repeats.ts'
import { send } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { toExecution } from '../exact/execution.ts'
import { count } from '../format/time.ts'
import { executionAddress, forkAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { problemOfJson } from '../start/form.ts'
import { JsonInput } from '../start/json-input.tsx'
import { VersionChoice } from '../start/version-choice.tsx'
import { Facts } from '../ui/facts.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { useAct } from '../ui/use-act.ts'

/** A fork of an execution after an entry of its log: first what would run again, then the fork itself. */
export function ForkScreen({ rest: [id = ''], place: { query } }: ScreenProps) {
  const entry = query.get('entry') ?? ''
  const version = query.get('version') ?? undefined
  // Kept here, because the plan is read again for another version.
  const [typed, setTyped] = useState<string>()
  const execution = useQuery(`fork of ${id}`, async (signal) =>
    toExecution(
      await send({ method: 'GET', path: `/executions/${encodeURIComponent(id)}` }, signal),
    ),
  )
  const again = { version: version === undefined ? undefined : Number(version) }
  const answer = useQuery(`fork ${id} ${entry} ${version}`, async (signal) => {
    const after = await seqOf(id, entry, signal)
    return { after, plan: await planFork(id, { after, ...again }, signal) }
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
      <Loaded answer={execution} lines={4}>
        {({ namespace, workflow, input }) => (
          <>
            <div class="filters">
              <VersionChoice
                {...{ namespace, version }}
                name={workflow}
                none="that of the execution"
                to={(one) => forkAddress(id, entry, one)}
              />
            </div>
            <Loaded answer={answer} lines={4}>
              {({ after, plan }) => (
                <Planned
                  {...{ id, after, plan, again, input }}
                  text={typed ?? input}
                  onType={setTyped}
                />
              )}
            </Loaded>
          </>
        )}
      </Loaded>
    </Page>
  )
}

interface Props {
  id: string
  after: number
  plan: ForkPlan
  again: Again
  /** Exact text of the input of the execution. */
  input: string
  /** The input of the fork. */
  text: string
  onType: (text: string) => void
}

function Planned({ id, after, plan, again, input, text, onType }: Props) {
  const { isBusy, failure, act } = useAct()
  const problem = useMemo(() => problemOfJson(text), [text])
  // The same input is not sent: the server takes it from the execution, whatever its size.
  const changes = { ...again, ...(text !== input && { input: text }) }
  const { runs_again: calls } = plan
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
        {calls.length === 0 ? (
          <p class="faint">
            No call of this execution; the code after the last of them runs again.
          </p>
        ) : (
          <ol class="steps">
            {calls.map(({ call_id, name }) => (
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
        <JsonInput text={text} problem={problem} onChange={onType} />
        <p class="faint">Calls whose outcome is in the log keep it, whatever the input is.</p>
      </details>
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={isBusy || problem !== undefined}
          onClick={() =>
            void act(async () => {
              const go = navigateFromHere()
              go(executionAddress(await fork(id, after, changes)))
            })
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
