/** Answers give whole seconds and take time to arrive, so a smaller difference counts as none. */
const TOLERANCE_MS = 5_000

let differenceMs = 0

/**
 * Computes, from the `Date` of an answer, the difference between the clocks of this machine and the server.
 */
export function learnTime(headers: Pick<Headers, 'get'>): void {
  const at = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(at)) return
  const difference = at - Date.now()
  differenceMs = Math.abs(difference) < TOLERANCE_MS ? 0 : difference
}

/** Current time of the server, in milliseconds since 1970; displayed times are compared with it. */
export const serverNow = (): number => Date.now() + differenceMs
