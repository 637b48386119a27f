import { useEffect, useRef, useState } from 'preact/hooks'
import {
  actInBulk,
  type BulkPreview,
  type BulkProgress,
  previewBulk,
  readBulk,
} from '../api/bulk.ts'
import { runPermission, useRefusals } from '../api/permissions.ts'
import type { Query } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { changed } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { refusalOf } from '../ui/feedback.tsx'
import { useAct } from '../ui/use-act.ts'
import { useDisclosure } from '../ui/use-disclosure.ts'
import { ActForm, useChosenAct } from './act-form.tsx'
import { classOf, executionsIn, labelOf, Progress } from './actions.tsx'
import { Preview } from './bulk-preview.tsx'

interface Props {
  /** The filter of the list; the act applies to all executions that match it. */
  filter: Query
  /** Why the executions cannot be read. */
  refusal: string | undefined
  /** Id of one of these executions. */
  example: string | undefined
  /** Id of an act that has begun, from the address. */
  running: string | undefined
  onDone: () => void
}

/** Acts on all executions of the filter, after showing what that changes. */
export function BulkPanel({ filter, refusal, example, running, onDone }: Props) {
  const [preview, setPreview] = useState<BulkPreview>()
  const [frame, setFrame] = useState<BulkProgress>()
  const chosen = useChosenAct('cancel', () => setPreview(undefined))
  const { act: chosenAct, problem } = chosen
  const begun = useBulk(running)
  // Without Redis, only the frames report the progress.
  const progress = begun.data ?? frame
  const { isBusy, failure, act } = useAct()
  const disclosure = useDisclosure(running !== undefined)
  const hasEnded = begun.data !== undefined && begun.data.state !== 'running'
  const isHere = useRef(true)
  useEffect(
    () => () => {
      isHere.current = false
    },
    [],
  )
  const look = () =>
    act(async () => {
      setFrame(undefined)
      showBulk(undefined)
      setPreview(await previewBulk(filter, chosenAct))
    })
  const perform = (expect: number) =>
    act(async () => {
      try {
        // The act continues at the server when this page is left; its id is in the address.
        for await (const one of actInBulk(filter, { ...chosenAct, expect })) {
          setFrame(one)
          // The person may have opened another screen, or chosen another filter.
          if (isHere.current) showBulk(one.id)
        }
        onDone()
      } finally {
        // After a failure too: more may match now, or the act may have begun.
        setPreview(undefined)
      }
    })
  return (
    <details class="card form-panel" {...disclosure}>
      <summary>Act on all that match</summary>
      <ActForm {...{ chosen, isBusy, example }}>
        <button
          type="button"
          disabled={isBusy || problem !== undefined || refusal !== undefined}
          title={refusal}
          onClick={look}
        >
          Show what it would change
        </button>
        {preview && (
          <PerformButton {...{ chosen, preview, isBusy }} onClick={() => perform(preview.count)} />
        )}
      </ActForm>
      <div role="status">
        {preview && <Preview act={chosenAct} preview={preview} />}
        {progress && <Progress progress={progress} />}
      </div>
      <FailureText
        // A stream that broke is no failure of an act that has reached its end.
        text={
          hasEnded
            ? undefined
            : failure || (begun.error && !progress ? refusalOf(begun.error) : undefined)
        }
      />
    </details>
  )
}

interface PerformProps {
  chosen: ReturnType<typeof useChosenAct>
  preview: BulkPreview
  isBusy: boolean
  onClick: () => void
}

/** The button that performs what the preview shows; disabled with the missing permission if none may be changed. */
function PerformButton({ chosen, preview, isBusy, onClick }: PerformProps) {
  const refusalFor = useRefusals()
  const { action } = chosen.act
  const { count, forbidden, sample } = preview
  const [first] = sample
  const refusal = first && forbidden === count ? refusalFor(runPermission(first)) : undefined
  return (
    <>
      <button
        type="button"
        class={classOf(action)}
        disabled={isBusy || forbidden === count}
        title={refusal}
        onClick={onClick}
      >
        {labelOf(action)} {executionsIn(count)}
      </button>
      {refusal && <span class="faint">{refusal}</span>}
    </>
  )
}

const EVERY_MS = 1_000

/** Progress of an act, read until its end. */
function useBulk(id: string | undefined) {
  const [ended, setEnded] = useState<string>()
  const isOver = id === undefined || ended === id
  const answer = useQuery(id && `bulk ${id}`, (signal) => readBulk(id ?? '', signal), {
    every: isOver ? undefined : EVERY_MS,
  })
  const { data } = answer
  useEffect(() => {
    if (data && data.state !== 'running') setEnded(data.id)
  }, [data])
  return answer
}

function showBulk(id: string | undefined): void {
  const now = new URLSearchParams(window.location.search)
  if (id === (now.get('bulk') ?? undefined)) return
  navigate(changed('executions', now, { bulk: id }), { replace: true })
}
