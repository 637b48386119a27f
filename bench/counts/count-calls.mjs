import { peersOf } from './peers.mjs'

const SENDS = new Set(['write', 'writev', 'sendto', 'sendmsg'])
const RECEIVES = new Set(['read', 'readv', 'recvfrom', 'recvmsg'])
const REQUEST = /"(GET|POST|PUT|PATCH|DELETE) \//
const NATS = /(?:^|"|\\n)(H?PUB|SUB|UNSUB|H?MSG) /g
const REDIS = /\*\d+\\r\\n\$\d+\\r\\n/g

/** True if the call puts data on a socket. */
export const isSend = ({ name, socket, isUnix }) => SENDS.has(name) && (socket || isUnix)

/**
 * Counts by kind: system calls by process, socket writes by connection, HTTP requests by receiver, messages
 * of NATS, commands of Redis, and flushes.
 */
export function countsOf(calls, ports) {
  const nameOf = peersOf(calls, ports)
  const counts = new Map()
  const add = (key, n = 1) => counts.set(key, (counts.get(key) ?? 0) + n)
  for (const call of calls) {
    add('system calls')
    add(`system calls: ${call.process}`)
    if (/^f(data)?sync$/.test(call.name)) add(`flushes: ${call.process}`)
    if (isSend(call)) countSend(call, nameOf(call), add)
    if (RECEIVES.has(call.name) && call.socket && REQUEST.test(call.text))
      add(`HTTP requests to ${call.process}`)
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function countSend(call, peer, add) {
  add('socket writes')
  add(`socket writes: ${call.process} to ${peer}`)
  if (peer === 'nats' || call.process === 'nats')
    for (const [, verb] of call.text.matchAll(NATS)) add(`NATS ${verb}`)
  if (peer === 'redis') add('Redis commands', [...call.text.matchAll(REDIS)].length)
}
