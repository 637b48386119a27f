import { useFailure } from '../api/failure.ts'
import { useQuery } from '../api/use-query.ts'
import { getWorkflow, sourceOf } from '../api/workflows.ts'
import type { ExecutionHead } from '../exact/execution.ts'
import { executionAddress, workflowAddress } from '../location/address.ts'
import { Loading } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { VisibleText } from '../ui/visible-text.tsx'
import {
  type Frame,
  framesOf,
  isSameSource,
  lineOf,
  type SourceVersion,
  sourcesOf,
} from './traceback.ts'

const MAX_MESSAGE_CHARS = 600
const MAX_LINE_CHARS = 300
/** Maximum number of frames that are shown; of a deep recursion, the innermost ones. */
const MAX_FRAMES = 20
/** Maximum number of versions whose source is read for one traceback. */
const MAX_SOURCES = 5

type Execution = Pick<ExecutionHead, 'id' | 'namespace' | 'workflow'>

/** The error of a failed execution, where nobody has to look for it; the tab with the output has all of it. */
export function Cause({ execution }: { execution: Execution }) {
  const { data, error } = useFailure(execution.id, true)
  if (!data) return error ? null : <Loading lines={2} />
  const { type, message, traceback } = data
  return (
    <section class="cause" aria-label="Cause">
      <p>
        {type && <strong>{type}: </strong>}
        <bdi>{message.slice(0, MAX_MESSAGE_CHARS)}</bdi>
        {message.length > MAX_MESSAGE_CHARS && '…'}{' '}
        <Link to={executionAddress(execution.id, { tab: 'data' })}>whole error</Link>
      </p>
      {traceback && <Frames execution={execution} frames={framesOf(traceback)} />}
    </section>
  )
}

/** Sources that could be read; frames of other files show the code that was stored with the error. */
async function readSources(versions: readonly SourceVersion[], signal: AbortSignal) {
  const read = versions.slice(0, MAX_SOURCES).map(async (one) => {
    const workflow = await getWorkflow({ ...one, version: String(one.version) }, signal)
    return { version: one, text: sourceOf(workflow) }
  })
  const answers = await Promise.allSettled(read)
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}

function Frames({ execution, frames }: { execution: Execution; frames: readonly Frame[] }) {
  const versions = sourcesOf(frames)
  const key = versions.length > 0 ? `sources ${JSON.stringify(versions)}` : undefined
  const { data } = useQuery(key, (signal) => readSources(versions, signal))
  const textOf = ({ source }: Frame) =>
    data?.find(({ version }) => source && isSameSource(version, source))?.text
  const shown = frames.slice(-MAX_FRAMES)
  return (
    <ol class="frames" aria-label="Traceback, the call that failed last">
      {shown.length < frames.length && (
        <li class="faint">{frames.length - shown.length} outer frames are left out.</li>
      )}
      {shown.map((frame, i) => (
        <FrameLine
          key={i}
          frame={frame}
          text={textOf(frame)}
          execution={execution}
          isLast={i === shown.length - 1}
        />
      ))}
    </ol>
  )
}

interface FrameProps {
  execution: Execution
  frame: Frame
  /** Source of its version. */
  text: string | undefined
  isLast: boolean
}

function FrameLine({ execution, frame, text, isLast }: FrameProps) {
  const { source, line, within, file, code } = frame
  const stored = code.split('\n')[0]?.trim() ?? ''
  const shown = (text === undefined ? undefined : lineOf(text, line)) ?? stored
  return (
    <li class={isLast ? 'failed-frame' : undefined}>
      <span class="frame-place">
        {source ? (
          <Link
            to={addressOf(execution, source, line)}
            aria-label={`line ${line} of ${nameOf(source)}`}
          >
            line {line}
          </Link>
        ) : (
          <span>line {line}</span>
        )}{' '}
        <span class="faint">
          in <bdi>{within}</bdi>, <bdi>{source ? nameOf(source) : file}</bdi>
        </span>
      </span>
      <code>
        <VisibleText text={shown.slice(0, MAX_LINE_CHARS)} />
        {shown.length > MAX_LINE_CHARS && '…'}
      </code>
    </li>
  )
}

const nameOf = ({ name, version }: SourceVersion) => `${name} version ${version}`

/** The line in the source of its version: the one that ran in the execution, or one of another workflow. */
function addressOf({ id, namespace, workflow }: Execution, source: SourceVersion, line: number) {
  const { version } = source
  return source.namespace === namespace && source.name === workflow
    ? executionAddress(id, { tab: 'source', version, line })
    : workflowAddress(source.namespace, source.name, { tab: 'source', version, line })
}
