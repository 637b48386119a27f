import { useState } from 'preact/hooks'
import { useRefusal } from '../api/permissions.ts'
import { send, sendRepeatable } from '../api/server.ts'
import type { ExecutionHead } from '../exact/execution.ts'
import { hasEnded } from '../format/states.ts'
import { compareAddress, startAddress } from '../location/address.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { refusalOf } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'

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
  const base = `/workflows/${encodeURIComponent(namespace)}/${encodeURIComponent(workflow)}`
  const act = async (what: string, request: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await request()
      onSay(`${what}.`)
    } catch (error) {
      onSay(refusalOf(error as Error))
    } finally {
      setBusy(false)
      onDone()
    }
  }
  // Sent once: a second one could resume a later pause.
  const resume = () => send({ method: 'POST', path: `${base}/resume/${id}/async`, body: 'null' })
  const cancel = () => sendRepeatable({ method: 'GET', path: `${base}/cancel/${id}` })
  return (
    <>
      <Link to={startAddress(namespace, workflow, { from: id })} class="button">
        <Icon name="again" /> Run again
      </Link>
      <Link to={compareAddress(id)} class="button">
        <Icon name="list" /> Compare
      </Link>
      {state === 'PAUSED' && (
        <button
          type="button"
          aria-label="Resume this execution"
          disabled={isBusy || refusal !== undefined}
          title={refusal}
          onClick={() => act('Resumed', resume)}
        >
          <Icon name="play" /> Resume
        </button>
      )}
      {!hasEnded(state) && (
        <ConfirmButton
          label="Cancel"
          icon="stop"
          isBusy={isBusy || state === 'CANCELLING'}
          refusal={refusal}
          question="Cancel this execution?"
          text="Its worker is asked to stop. What tasks have done is not undone. This cannot be taken back."
          confirm="Cancel the execution"
          onConfirm={() => act('Asked to cancel', cancel)}
        />
      )}
    </>
  )
}
