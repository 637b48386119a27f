import net from 'node:net'
import { Client } from './http.mjs'
import { workerRecord } from './worker.mjs'

const CONCURRENCY = 16
const PONG = '{"healthy":true,"metrics":{"windlass.cpu_percent":12.5,"windlass.slots_free":4}}'

/** Connects workers that only answer pings, on plain sockets: the load generator shares the machine. */
export function idleWorkers(client, { url, bootstrap }) {
  const answering = new Client(url)
  const { hostname, port } = new URL(url)
  const sockets = new Set()
  const fleet = { pongs: 0, refused: 0 }

  async function join(name) {
    const { status, text } = await client.request('POST', '/workers/register', {
      body: JSON.stringify(workerRecord(name, 4, { zone: 'a' })),
      headers: { authorization: `Bearer ${bootstrap}` },
    })
    if (status !== 200) throw new Error(`register: ${status} ${text}`)
    const authorization = `Bearer ${JSON.parse(text).session_token}`
    const pong = async () => {
      const path = `/workers/${name}/pong`
      const answer = await answering
        .request('POST', path, { body: PONG, headers: { authorization } })
        .catch(() => undefined)
      if (answer?.status === 200) fleet.pongs++
      else fleet.refused++
    }
    await connect(name, authorization, pong)
  }

  function connect(name, authorization, pong) {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ host: hostname, port: Number(port) })
      socket.once('error', reject)
      socket.once('data', (head) => {
        if (!head.toString().startsWith('HTTP/1.1 200')) return reject(new Error(head.toString()))
        sockets.add(socket)
        resolve()
      })
      socket.on('data', (chunk) => {
        if (chunk.includes('event: ping')) void pong()
      })
      socket.once('close', () => sockets.delete(socket))
      socket.write(
        `GET /workers/${name}/connect HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`,
      )
    })
  }

  let joined = 0
  return {
    get pongs() {
      return fleet.pongs
    },
    /** Pongs without a 200. */
    get refused() {
      return fleet.refused
    },
    get connected() {
      return sockets.size
    },
    /** Connects workers until there are `size`. */
    async grow(size) {
      const loop = async () => {
        while (joined < size) {
          const number = ++joined
          await join(`idle-${number}`)
          if (number % 500 === 0) process.stderr.write(`${number} connected\n`)
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, loop))
    },
    close() {
      for (const socket of sockets) socket.destroy()
      answering.close()
    },
  }
}
