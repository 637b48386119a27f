import { useState } from 'preact/hooks'
import { refusalOf } from './feedback.tsx'

interface Act {
  isBusy: boolean
  /** Reason why the last request failed; empty if it succeeded. */
  failure: string
  /** Runs a request; nothing happens while another one of this component is under way. */
  act(request: () => Promise<unknown>): Promise<void>
}

/** Requests that change something, one at a time. */
export function useAct(): Act {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')
  const act = async (request: () => Promise<unknown>) => {
    if (isBusy) return
    setBusy(true)
    setFailure('')
    try {
      await request()
    } catch (error) {
      setFailure(refusalOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, failure, act }
}
