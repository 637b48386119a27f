import { useRef, useState } from 'preact/hooks'
import { ExecutionActions } from '../execution/actions.tsx'
import { ApprovalsTab } from '../execution/approvals-tab.tsx'
import { AttemptBars } from '../execution/attempt-bars.tsx'
import { Cause } from '../execution/cause.tsx'
import { CopyRun } from '../execution/copy-run.tsx'
import { LogTab } from '../execution/log-tab.tsx'
import { OutputTab } from '../execution/output-tab.tsx'
import { Payload, usePayload } from '../execution/payload.tsx'
import { attemptsOf, spanOf, timeOfId } from '../execution/segments.ts'
import { SourceTab } from '../execution/source-tab.tsx'
import { TimelineTab, useTimeline } from '../execution/timeline-tab.tsx'
import { type ExecutionDetail, useExecution } from '../execution/use-execution.ts'
import { WhyTab } from '../execution/why-tab.tsx'
import { hasEnded } from '../format/states.ts'
import type { LiveSource } from '../live/live-source.ts'
import { executionAddress, workerAddress, workflowAddress } from '../location/address.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Clock, Took } from '../ui/times.tsx'

/** One execution: what it does, why it does not, and what can be done about it. */
export function ExecutionScreen({ rest: [id = ''], place }: ScreenProps) {
  const answer = useExecution(id)
  const { data } = answer
  usePartOf(id, place.query.get('tab'), answer.live)
  const [said, setSaid] = useState('')
  return (
    <Page
      title={data ? data.workflow : 'Execution'}
      aside={
        <>
          {data && <StateBadge state={data.state} isLarge />}
          <span class="mono faint exec-id">{id}</span>
          <CopyButton text={id} label="Copy id" name="Copy id of the execution" />
        </>
      }
      actions={
        data && <ExecutionActions execution={data} onDone={answer.refresh} onSay={setSaid} />
      }
    >
      <p class={said ? 'message' : 'visually-hidden'} role="status">
        {said}
      </p>
      <Loaded answer={answer} lines={10}>
        {(execution) => <Detail execution={execution} query={place.query} live={answer.live} />}
      </Loaded>
    </Page>
  )
}

/** Reads what the tab of the address shows at the same time as the execution, not after it. */
function usePartOf(id: string, tab: string | null, live: LiveSource): void {
  usePayload(tab === 'data' ? id : undefined, 'input', live)
  useTimeline(tab === 'timeline' ? id : undefined, live)
}

/** The tab of an execution whose code has not begun. */
const NOT_BEGUN = 'why'

/** What the reader most likely came for. */
function firstTab({ state, events }: ExecutionDetail): string {
  if (state === 'PAUSED') return 'approvals'
  return events.some(({ type }) => type === 'WORKFLOW_STARTED') ? 'timeline' : NOT_BEGUN
}

/** Once the code has begun, it stays when the state changes: what a person reads or types is not replaced. */
function useFirstTab(execution: ExecutionDetail): string {
  const shown = useRef(NOT_BEGUN)
  if (shown.current === NOT_BEGUN) shown.current = firstTab(execution)
  return shown.current
}

const TABS = [
  { name: 'timeline', label: 'Timeline' },
  { name: 'log', label: 'Log' },
  { name: 'lines', label: 'Output of the code' },
  { name: 'data', label: 'Input and output' },
  { name: 'why', label: 'Why' },
  { name: 'approvals', label: 'Approvals' },
  { name: 'source', label: 'Source' },
]

interface DetailProps {
  execution: ExecutionDetail
  query: URLSearchParams
  live: LiveSource
}

function Detail({ execution, query, live }: DetailProps) {
  const now = useNow()
  const first = useFirstTab(execution)
  const tab = query.get('tab') ?? first
  const { id, namespace, workflow, worker, state, events } = execution
  const created = timeOfId(id) ?? events[0]?.time ?? now
  const attempts = attemptsOf(created, events, now)
  const { from, to } = spanOf(attempts)
  const isOpen = !hasEnded(state)
  return (
    <>
      <section class="card" aria-label="Summary">
        <dl class="facts">
          <Fact name="Workflow">
            <Link to={workflowAddress(namespace, workflow)}>
              {namespace}/<bdi>{workflow}</bdi>
            </Link>
          </Fact>
          <Fact name="Created">
            <Clock at={from} now={now} />
          </Fact>
          <Fact name={isOpen ? 'So far' : 'Took'}>
            <Took ms={to - from} isOpen={isOpen} />
          </Fact>
          <Fact name="Attempts">{attempts.filter((one) => one.worker !== undefined).length}</Fact>
          <Fact name="Worker">
            {worker ? <Link to={workerAddress(worker)}>{worker}</Link> : '–'}
          </Fact>
        </dl>
        <AttemptBars attempts={attempts} from={from} to={to} />
      </section>
      {execution.more && <p class="stale">There were more attempts than are shown here.</p>}
      {state === 'FAILED' && <Cause execution={execution} />}
      <Tabs
        label="Parts of the execution"
        tabs={TABS}
        current={tab}
        to={(name) => executionAddress(id, { tab: name })}
      />
      <Content {...{ execution, tab, query, live, from, to }} />
    </>
  )
}

interface ContentProps {
  execution: ExecutionDetail
  tab: string
  query: URLSearchParams
  live: LiveSource
  from: number
  to: number
}

function Content({ execution, tab, query, live, ...span }: ContentProps) {
  const { id, state } = execution
  if (tab === 'log') return <LogTab execution={execution} live={live} />
  if (tab === 'lines') return <OutputTab id={id} state={state} query={query} />
  if (tab === 'why') return <WhyTab id={id} state={state} />
  if (tab === 'approvals') return <ApprovalsTab id={id} state={state} />
  if (tab === 'source') return <SourceTab execution={execution} query={query} live={live} />
  if (tab !== 'data') return <TimelineTab {...{ id, state, query, live }} {...span} />
  return (
    <div class="page-body">
      <Payload id={id} kind="input" title="Input" live={live} />
      <CopyRun execution={execution} />
      {state === 'FAILED' ? (
        <Payload id={id} kind="error" title="Error" live={live} />
      ) : (
        <Payload
          {...{ id, live }}
          kind="output"
          title="Output"
          absent={hasEnded(state) ? 'It ended without an output.' : 'There is no output yet.'}
        />
      )}
    </div>
  )
}

const Fact = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
