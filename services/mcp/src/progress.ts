/** Shorter than the time after which clients give up by default (60 s in the SDKs). */
const INTERVAL_MS = 10_000

export interface ProgressContext {
  _meta?: { progressToken?: string | number }
  sendNotification(notification: {
    method: 'notifications/progress'
    params: { progressToken: string | number; progress: number; message: string }
  }): Promise<void>
}

/**
 * Reports the seconds that a call has waited, at once and every 10 s, if the client asked for progress.
 * Clients that restart their timeout at each report then wait for the result. There is no total, because
 * the duration of a workflow is unknown. Returns a function that stops the reports.
 */
export function startProgress(extra: ProgressContext): () => void {
  const progressToken = extra._meta?.progressToken
  if (progressToken === undefined) return () => {}
  let progress = 0
  const report = () => {
    const message = `waiting for the execution for ${progress} s`
    const params = { progressToken, progress, message }
    // A client that is gone ends the call by its signal.
    extra.sendNotification({ method: 'notifications/progress', params }).catch(() => {})
    progress += INTERVAL_MS / 1_000
  }
  report()
  const timer = setInterval(report, INTERVAL_MS)
  return () => clearInterval(timer)
}
