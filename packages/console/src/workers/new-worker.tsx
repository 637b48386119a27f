import { useState } from 'preact/hooks'
import { useRefusal } from '../api/permissions.ts'
import { serverUrl } from '../api/server.ts'
import { createWorkerToken } from '../api/workers.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { Icon } from '../ui/icon.tsx'
import { OnceShown } from '../ui/once-shown.tsx'
import { useAct } from '../ui/use-act.ts'

const FILE = 'worker.token'

/** The command that starts a worker, with a token that registers it. */
export function NewWorker() {
  const [token, setToken] = useState('')
  const refusal = useRefusal('admin:workers:manage')
  const { isBusy, failure, act } = useAct()
  const start = `windlass worker start --server-url ${serverUrl()} --bootstrap-token-file ${FILE}`
  return (
    <section class="card" aria-label="Start a worker">
      <h2>Start a worker</h2>
      {/* While another one is made, the last one would be taken for it. */}
      {token && !isBusy ? (
        <OnceShown title="The command" text={`printf %s ${token} > ${FILE} && ${start}`} />
      ) : (
        <>
          <p>Where the code of your workflows may run:</p>
          <p>
            <code>{start}</code>
          </p>
        </>
      )}
      <p>
        <button
          type="button"
          disabled={isBusy || refusal !== undefined}
          title={refusal}
          onClick={() => void act(async () => setToken(await createWorkerToken()))}
        >
          <Icon name="key" /> Create a token
        </button>{' '}
        <span class="faint">{refusal ?? 'It registers one worker within a day.'}</span>
      </p>
      <FailureText text={failure} />
    </section>
  )
}
