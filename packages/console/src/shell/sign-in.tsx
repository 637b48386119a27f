import { StatusError } from '@windlass/api-client/errors'
import { useState } from 'preact/hooks'
import { sendRepeatable } from '../api/server.ts'
import type { Place } from '../location/location.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { refusalOf } from '../ui/feedback.tsx'
import { IssuerLink } from './issuer-link.tsx'

/** Asks for an API key once; the server answers with a cookie, and the key is forgotten here. */
export function SignIn({ place, onSignedIn }: { place: Place; onSignedIn: () => void }) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const api_key = String(new FormData(form).get('api_key') ?? '').trim()
    setBusy(true)
    setFailure('')
    try {
      const body = JSON.stringify({ api_key })
      // A session whose cookie was lost is never used, and ends by its idle time.
      await sendRepeatable({ method: 'POST', path: '/console/session', body })
      form.reset()
      onSignedIn()
    } catch (error) {
      setFailure(failureOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="sign-in" aria-labelledby="title">
      <form class="card" aria-labelledby="title" onSubmit={submit}>
        <h1 id="title">Sign in to Windlass</h1>
        <IssuerLink place={place} />
        <p class="faint">
          With an API key. It is sent once; the browser keeps a session that ends with the key.
        </p>
        <label>
          <span>API key</span>
          <input
            name="api_key"
            type="password"
            required
            autoComplete="off"
            spellcheck={false}
            placeholder="wk_…"
          />
        </label>
        <FailureText text={failure} />
        <button type="submit" class="primary" disabled={isBusy}>
          Sign in
        </button>
        <p class="faint">
          No key? An administrator makes one: <code>npx windlass admin create-key</code>
        </p>
      </form>
    </main>
  )
}

function failureOf(error: Error): string {
  if (error instanceof StatusError && error.status === 401)
    return 'The server does not know this key, or it has expired.'
  return refusalOf(error)
}
