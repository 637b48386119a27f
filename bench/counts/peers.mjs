/**
 * Returns a function that names the process at the other end of a call's connection. Each connection is seen from
 * both ends, so the local port of one end names the other; the load generator is not traced: `client`.
 */
export function peersOf(calls, ports) {
  const owners = new Map(Object.entries(ports).map(([name, port]) => [port, name]))
  for (const { process, socket } of calls) if (socket) owners.set(socket.local, process)
  return ({ socket, isUnix, process }) => {
    if (!socket) return isUnix ? peerOfUnixSocket(process) : 'unknown'
    return owners.get(socket.peer) ?? 'client'
  }
}

/** A worker and its runners are connected by Unix sockets, and local PostgreSQL may be. */
function peerOfUnixSocket(process) {
  if (process.startsWith('worker')) return process
  return process === 'postgres' ? 'services' : 'postgres'
}
