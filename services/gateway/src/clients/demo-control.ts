import type { Settings } from '@windlass/runtime/config/settings'
import { unavailable } from '@windlass/runtime/faults'

const LIMIT_MS = 5_000

/** True for the system of `npm start` without authentication, where every caller has all rights already. */
export const hasDemo = ({ console: { demo_url }, security }: Settings): boolean =>
  demo_url !== '' && !security.auth.enabled

/** Asks `npm start` to kill its workers; returns their number. Throws `unavailable` without an answer. */
export async function killDemoWorkers(url: string): Promise<number> {
  try {
    const limits = { redirect: 'error', signal: AbortSignal.timeout(LIMIT_MS) } as const
    const response = await fetch(url, { method: 'POST', ...limits })
    const { killed } = (await response.json()) as { killed?: number }
    if (!response.ok || killed === undefined) throw new Error(`status ${response.status}`)
    return killed
  } catch (error) {
    throw unavailable('npm start does not answer; retry', error)
  }
}
