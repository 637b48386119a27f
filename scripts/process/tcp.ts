import net from 'node:net'

const ANSWER_LIMIT_MS = 1_000

/** Returns true if the server on a port of 127.0.0.1 answers, after `say` if given, with text that matches `expect`. */
export function answers(
  port: number,
  { say, expect }: { say?: string; expect: RegExp },
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', timeout: ANSWER_LIMIT_MS })
    let heard = ''
    const done = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    if (say) socket.once('connect', () => socket.write(say))
    socket.on('data', (bytes) => {
      heard += bytes
      if (expect.test(heard)) done(true)
    })
    for (const event of ['timeout', 'error', 'close']) socket.once(event, () => done(false))
  })
}
