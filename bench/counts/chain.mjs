import { isSend } from './count-calls.mjs'
import { peersOf } from './peers.mjs'

const SHOWN = 48
const FLUSH = /^f(data)?sync$/

/**
 * Returns the socket writes and flushes of the execution with the median duration: ms since its request, the
 * two processes, and the beginning of the text where it can be read.
 */
export function chainOf(calls, times, ports) {
  const nameOf = peersOf(calls, ports)
  const byDuration = [...times].sort((a, b) => a.to - a.from - (b.to - b.from))
  const { from, to } = byDuration[Math.floor(byDuration.length / 2)]
  return calls
    .filter((call) => call.at >= from && call.at <= to && (isSend(call) || FLUSH.test(call.name)))
    .map((call) => ({
      ms: (call.at - from) * 1_000,
      from: call.process,
      to: FLUSH.test(call.name) ? 'disk' : nameOf(call),
      what: contentOf(call.text),
    }))
}

function contentOf(text) {
  const [, content = ''] = /"((?:[^"\\]|\\.)*)"/.exec(text) ?? []
  const readable = content
    .replaceAll(/\\[0-7]{1,3}|\\x[\da-f]{2}|\\./g, ' ')
    .replaceAll(/\s+/g, ' ')
  return readable.slice(0, SHOWN)
}
