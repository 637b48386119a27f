import { useState } from 'preact/hooks'
import { useRefusal } from '../api/permissions.ts'
import { sendRepeatable } from '../api/server.ts'
import { workflowPath } from '../api/workflows.ts'
import type { ExecutionHead } from '../exact/execution.ts'
import { hasEnded } from '../format/states.ts'
import { compareAddress, startAddress } from '../location/address.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { refusalOf } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Resume } from './resume.tsx'

interface Props {
  execution: Pick<ExecutionHead, 'id' | 'namespace' | 'workflow' | 'state'>
  onDone: () => void
  /** Tells what happened. */
  onSay: (text: string) => void
}

/** What can be done about an execution now. */
export function ExecutionActions({ execution, onDone, onSay }: Props) {
  const { id, namespace, workflow, state } = execution
  const [isBusy, setBusy] = useState(false)
  const refusal = useRefusal(`workflow:${namespace}:${workflow}:run`)
  const cancel = async () => {
    setBusy(true)
    try {
      await sendRepeatable({
        method: 'GET',
        path: `${workflowPath(namespace, workflow)}/cancel/${id}`,
      })
      onSay('Asked to cancel.')
    } catch (error) {
      onSay(refusalOf(error as Error))
    } finally {
      setBusy(false)
      onDone()
    }
  }
  return (
    <>
      <Link to={startAddress(namespace, workflow, { from: id })} class="button">
        <Icon name="again" /> Run again
      </Link>
      <Link to={compareAddress(id)} class="button">
        <Icon name="list" /> Compare
      </Link>
      <Resume
        {...{ execution, refusal }}
        isPaused={state === 'PAUSED'}
        onResumed={() => {
          onSay('Resumed.')
          onDone()
        }}
      />
      {!hasEnded(state) && (
        <ConfirmButton
          label="Cancel"
          icon="stop"
          isBusy={isBusy || state === 'CANCELLING'}
          refusal={refusal}
          question="Cancel this execution?"
          text="Its worker is asked to stop. What tasks have done is not undone. This cannot be taken back."
          confirm="Cancel the execution"
          onConfirm={cancel}
        />
      )}
    </>
  )
}
