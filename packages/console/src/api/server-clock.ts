/** Answers name whole seconds and take a while: a smaller difference is none. */
const TOLERANCE_MS = 5_000

let differenceMs = 0

/** Learns from the `Date` of an answer how far the clock of this machine is from that of the server. */
export function learnTime(headers: Pick<Headers, 'get'>): void {
  const at = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(at)) return
  const difference = at - Date.now()
  differenceMs = Math.abs(difference) < TOLERANCE_MS ? 0 : difference
}

/** The time of the server, in milliseconds since 1970: what is shown is compared with its times. */
export const serverNow = (): number => Date.now() + differenceMs
