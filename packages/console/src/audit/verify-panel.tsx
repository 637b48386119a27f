import { useState } from 'preact/hooks'
import { MAX_AUDIT_PAGE, readAudit, readCheckpoints } from '../api/audit.ts'
import { count } from '../format/time.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { Icon } from '../ui/icon.tsx'
import { useAct } from '../ui/use-act.ts'
import { toHead, type VerifiedChain, verifyChain } from './verify.ts'

/** Maximum number of problems that are shown. */
const MAX_SHOWN = 100

/** Verifies the whole chain in the browser, and shows every break. */
export function VerifyPanel() {
  const [noted, setNoted] = useState('')
  const [progress, setProgress] = useState<[done: number, last: number]>()
  const [result, setResult] = useState<VerifiedChain>()
  const { isBusy, failure, act } = useAct()
  const head = toHead(noted)
  const isWrong = noted.trim() !== '' && head === undefined
  // Browsers compute hashes only at addresses that no network can change.
  const canHash = globalThis.crypto?.subtle !== undefined
  const verify = () =>
    act(async () => {
      setResult(undefined)
      const source = {
        readPage: (after: number) =>
          readAudit({ after: String(after), limit: String(MAX_AUDIT_PAGE) }),
        readCheckpoints,
        onProgress: (done: number, last: number) => setProgress([done, last]),
      }
      setResult(await verifyChain(source, head))
    })
  return (
    <section class="card" aria-label="Verification of the chain">
      <div class="filters">
        <button type="button" disabled={isBusy || isWrong || !canHash} onClick={verify}>
          <Icon name="check" /> Verify the chain
        </button>
        <label class="text-filter">
          <span>Head that you noted</span>
          <input
            value={noted}
            placeholder="SEQ:HASH, optional"
            spellcheck={false}
            aria-invalid={isWrong}
            onInput={(event) => setNoted(event.currentTarget.value)}
          />
        </label>
        {isWrong && <span class="failure-text">This is not SEQ:HASH.</span>}
      </div>
      {!canHash && (
        <p class="faint">
          This browser computes hashes at an https:// address or on loopback only. From a terminal:{' '}
          <code>npx windlass audit verify</code>
        </p>
      )}
      <div role="status">
        {isBusy && progress && (
          <p class="faint">
            {count(progress[0])} entries of {count(progress[1])} are verified …
          </p>
        )}
        {result && <Result result={result} />}
      </div>
      <FailureText text={failure} />
    </section>
  )
}

function Result({ result }: { result: VerifiedChain }) {
  const { problems, notes, entries, head, checkpoints, kids } = result
  const text = `${head.seq}:${head.hash}`
  if (problems.length > 0)
    return (
      <div class="cause">
        <strong>The log was changed.</strong>
        <ul>
          {problems.slice(0, MAX_SHOWN).map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
        {problems.length > MAX_SHOWN && <p>and {count(problems.length - MAX_SHOWN)} more</p>}
      </div>
    )
  return (
    <div class="verified">
      <p class="tone-good">
        <Icon name="check" /> {count(entries)} entries, and the chain is whole.
      </p>
      <p>
        Its head, to be noted elsewhere: <code class="secret-text">{text}</code>{' '}
        <CopyButton text={text} label="Copy" name="Copy the head of the chain" />
      </p>
      {checkpoints > 0 && (
        <p>
          {count(checkpoints)} signed checkpoints fit it. Compare their key with the one that you
          noted: <code class="secret-text">{kids.join(', ')}</code>
        </p>
      )}
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </div>
  )
}
