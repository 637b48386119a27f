import { WebSocket } from 'undici'

/** Connects to the inspector of a Node process; returns `send`, which resolves with the result, and `close`. */
export async function inspect(url) {
  const socket = new WebSocket(url)
  const waiting = new Map()
  let lastId = 0
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${url}`)))
  })
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(data)
    const call = waiting.get(id)
    waiting.delete(id)
    if (error) call?.reject(new Error(error.message))
    else call?.resolve(result)
  })
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('the inspected process ended'))
  })
  return {
    send(method, params = {}) {
      const id = ++lastId
      socket.send(JSON.stringify({ id, method, params }))
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    close: () => socket.close(),
  }
}
