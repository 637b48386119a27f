import { StatusError } from '@windlass/api-client/errors'
import { listExecutions } from '../api/executions.ts'
import { type ExecutionFailure, useFailure } from '../api/failure.ts'
import { readTimeline } from '../api/timeline.ts'
import { useQuery } from '../api/use-query.ts'
import { getWorkflow, sourceOf, type Workflow } from '../api/workflows.ts'
import type { ExecutionHead } from '../exact/execution.ts'
import { hasEnded } from '../format/states.ts'
import type { LiveSource } from '../live/live-source.ts'
import { executionAddress, wholeOf, workflowAddress } from '../location/address.ts'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { type LineMark, SourceView } from '../ui/source-view.tsx'
import { callLines } from './call-lines.ts'
import { callsOf } from './calls.ts'
import { failedLines, framesOf, taskLine } from './traceback.ts'

const EVERY_MS = 5_000
const GAP_MS = 1_000

type Execution = Pick<ExecutionHead, 'id' | 'namespace' | 'workflow' | 'state'>

interface Props {
  execution: Execution
  query: URLSearchParams
  live: LiveSource
}

/** The source of the version that ran, with the lines that failed or whose tasks run. */
export function SourceTab({ execution, query, live }: Props) {
  const { id, namespace, workflow, state } = execution
  const asked = wholeOf(query.get('version'), 0)
  const answer = useQuery(`source ${id} ${asked}`, async (signal) => {
    const version = asked || (await versionOf(id, signal))
    return read(execution, version, signal)
  })
  const failure = useFailure(id, state === 'FAILED').data
  const running = useRunning(execution, live)
  return (
    <Loaded answer={answer}>
      {(found) =>
        found === null ? (
          <Empty title="The version that ran has been deleted">
            <p>
              <Link to={workflowAddress(namespace, workflow)}>Versions of the workflow</Link>
            </p>
          </Empty>
        ) : (
          <Found {...{ execution, found, failure, running }} line={wholeOf(query.get('line'), 0)} />
        )
      }
    </Loaded>
  )
}

/** Version of an execution; the list of executions names it. */
async function versionOf(id: string, signal: AbortSignal): Promise<number> {
  const { executions } = await listExecutions({ id, limit: '1' }, signal)
  return executions[0]?.workflow_version ?? 0
}

/** Reads a version; null if it no longer exists. */
async function read({ namespace, workflow }: Execution, version: number, signal: AbortSignal) {
  if (version === 0) return null
  const asked = { namespace, name: workflow, version: String(version) }
  return getWorkflow(asked, signal).catch((error: unknown) => {
    if (error instanceof StatusError && error.status === 404) return null
    throw error
  })
}

/** Names of tasks with a call that runs. */
function useRunning({ id, state }: Execution, live: LiveSource): readonly string[] {
  const isOpen = !hasEnded(state)
  const { data } = useQuery(
    isOpen ? `timeline ${id}` : undefined,
    (signal) => readTimeline(id, signal),
    { every: EVERY_MS, gapMs: GAP_MS, live },
  )
  if (!data || !isOpen) return []
  const calls = callsOf(data).filter((call) => call.state === 'running')
  return [...new Set(calls.map(({ name }) => name))]
}

interface FoundProps {
  execution: Execution
  found: Workflow
  failure: ExecutionFailure | undefined
  running: readonly string[]
  line: number
}

/** Lines of the tasks of which a call runs, and those of the calls. */
function runningLines(text: string, running: readonly string[], state: string): [number, string][] {
  const reached = state === 'RUNNING' ? 'runs now' : 'was reached'
  const tasks = running.flatMap((task): [number, string][] => {
    const at = taskLine(text, task)
    return at === undefined ? [] : [[at, 'a call of it runs']]
  })
  const calls = running.flatMap((task) => {
    const lines = callLines(text, task)
    const others = lines.length > 1 ? `, or another of the ${lines.length} calls` : ''
    return lines.map((at): [number, string] => [at, `${reached}: the call of ${task}${others}`])
  })
  return [...tasks, ...calls]
}

const WORDS = { failed: 'failed here', passed: 'on the way to the failure' }

/** The known facts about lines: the tasks and calls that run, and where a failure passed. */
function marksOf({ execution, found, failure, running }: Omit<FoundProps, 'line'>) {
  const marks = new Map<number, LineMark>()
  for (const [at, word] of runningLines(sourceOf(found), running, execution.state))
    marks.set(at, { kind: 'running', word })
  for (const [at, kind] of failedLines(framesOf(failure?.traceback ?? ''), found))
    marks.set(at, { kind, word: WORDS[kind] })
  return marks
}

function Found({ line, ...rest }: FoundProps) {
  const { execution, found } = rest
  const { namespace, name, version } = found
  const text = sourceOf(found)
  const marks = marksOf(rest)
  const to = (at: number) => executionAddress(execution.id, { tab: 'source', version, line: at })
  return (
    <div class="page-body">
      <p class="faint">
        <Link to={workflowAddress(namespace, name, { version, tab: 'source' })}>
          {namespace}/<bdi>{name}</bdi> version {version}
        </Link>
        , which ran.
      </p>
      {marks.size > 0 && (
        <ul class="text-links" aria-label="Marked lines">
          {[...marks].map(([at, { word }]) => (
            <li key={at}>
              <Link to={to(at)}>Line {at}</Link>: {word}
            </li>
          ))}
        </ul>
      )}
      <SourceView source={text} marks={marks} line={line} />
    </div>
  )
}
