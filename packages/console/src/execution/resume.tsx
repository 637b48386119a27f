import { useMemo, useState } from 'preact/hooks'
import { send } from '../api/server.ts'
import { workflowPath } from '../api/workflows.ts'
import type { ExecutionHead } from '../exact/execution.ts'
import { executionAddress } from '../location/address.ts'
import { problemOfJson } from '../start/form.ts'
import { JsonInput } from '../start/json-input.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { ModalDialog } from '../ui/modal-dialog.tsx'
import { useAct } from '../ui/use-act.ts'
import { useApprovalsOf } from './use-approvals.ts'

interface Props {
  execution: Pick<ExecutionHead, 'id' | 'namespace' | 'workflow'>
  /** False: no button; a dialog that is open stays, with what was typed. */
  isPaused: boolean
  refusal: string | undefined
  onResumed: () => void
}

/** Resumes a paused execution; one that waits for an approval would only pause again. */
export function Resume({ execution, isPaused, refusal, onResumed }: Props) {
  const { id } = execution
  const { data } = useApprovalsOf(isPaused ? id : undefined)
  const [isOpen, setOpen] = useState(false)
  // A dialog that is closed and opened again sends no second request while the first one is under way.
  const sending = useAct()
  const isPending = data?.approvals.some(({ status }) => status === 'pending') ?? false
  const reason =
    refusal ?? (isPending ? 'It waits for an approval; the decision resumes it' : undefined)
  return (
    <>
      {isPaused && (
        <button
          type="button"
          aria-label="Resume this execution"
          disabled={sending.isBusy || reason !== undefined}
          title={reason}
          onClick={() => setOpen(true)}
        >
          <Icon name="play" /> Resume
        </button>
      )}
      {isPaused && isPending && !refusal && (
        <Link to={executionAddress(id, { tab: 'approvals' })}>waits for an approval</Link>
      )}
      {isOpen && (
        <ResumeDialog
          {...{ execution, sending }}
          onClose={() => setOpen(false)}
          onResumed={() => {
            setOpen(false)
            onResumed()
          }}
        />
      )}
    </>
  )
}

interface DialogProps extends Pick<Props, 'execution' | 'onResumed'> {
  sending: ReturnType<typeof useAct>
  onClose: () => void
}

function ResumeDialog({ execution, sending, onClose, onResumed }: DialogProps) {
  const { id, namespace, workflow } = execution
  const [text, setText] = useState('')
  const { isBusy, failure, act } = sending
  const isEmpty = text.trim() === ''
  const problem = useMemo(() => (isEmpty ? undefined : problemOfJson(text)), [text, isEmpty])
  const path = `${workflowPath(namespace, workflow)}/resume/${id}/async`
  const resume = () =>
    act(async () => {
      // Sent once: a second one could resume a later pause.
      await send({ method: 'POST', path, body: isEmpty ? 'null' : text })
      onResumed()
    })
  return (
    <ModalDialog label="Resume this execution" onClose={onClose}>
      <h1>Resume this execution</h1>
      <p>
        The call that paused it returns this input. Without one, it returns <code>null</code>.
      </p>
      <JsonInput text={text} problem={problem} onChange={setText} />
      <FailureText text={failure} />
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={onClose}>
          No
        </button>
        <button
          type="button"
          class="primary"
          disabled={isBusy || problem !== undefined}
          onClick={resume}
        >
          Resume the execution
        </button>
      </div>
    </ModalDialog>
  )
}
