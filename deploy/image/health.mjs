// The health check of the image: asks the admin port of the service, which Kubernetes probes itself. Prints the answer
// of a service that is not ready, which has the reason. With `--wait`, for the systemd unit: asks until the service is
// ready, and fails when its process (MAINPID) has ended.
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const TIMEOUT_MS = 3_000
const PAUSE_MS = 200
const { SVC_ADMIN__HOST: host = '127.0.0.1', SVC_ADMIN__PORT: port, MAINPID: pid } = process.env

let problem = await findProblem()
if (process.argv[2] === '--wait') problem = await waitUntilReady(problem)
process.stderr.write(problem)
process.exit(problem === '' ? 0 : 1)

/** Prints each answer that differs from the one before; returns the problem of a process that has ended. */
async function waitUntilReady(first) {
  for (let last = first, printed = ''; last !== ''; last = await findProblem()) {
    if (pid !== undefined && !lives(Number(pid))) return `process ${pid} has ended\n`
    if (last !== printed) process.stderr.write(last)
    printed = last
    await pause(PAUSE_MS)
  }
  return ''
}

/** The answer of a service that is not ready, or why there is none; empty if it is ready. */
function findProblem() {
  const wildcard = ['0.0.0.0', '::', ''].includes(host)
  return new Promise((resolve) => {
    const request = http.get(
      { host: wildcard ? '127.0.0.1' : host, port, path: '/ready', timeout: TIMEOUT_MS },
      async (response) => {
        let text = ''
        for await (const chunk of response) text += chunk
        resolve(response.statusCode === 200 ? '' : text)
      },
    )
    request.once('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)))
    request.once('error', ({ message }) => resolve(`port ${port}: ${message}\n`))
  })
}

/** A process of another user lives too: EPERM. */
function lives(process_id) {
  try {
    process.kill(process_id, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}
