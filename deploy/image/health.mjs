// The health check of the image: asks the admin port of the service, which Kubernetes probes itself. Prints the answer
// of a service that is not ready, which has the reason.
import http from 'node:http'

const TIMEOUT_MS = 3_000
const { SVC_ADMIN__HOST: host = '127.0.0.1', SVC_ADMIN__PORT: port } = process.env

const wildcard = ['0.0.0.0', '::', ''].includes(host)
const request = http.get(
  { host: wildcard ? '127.0.0.1' : host, port, path: '/ready', timeout: TIMEOUT_MS },
  (response) => {
    if (response.statusCode === 200) process.exit(0)
    process.exitCode = 1
    response.pipe(process.stderr)
  },
)
request.once('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)))
request.once('error', ({ message }) => {
  process.stderr.write(`port ${port}: ${message}\n`)
  process.exit(1)
})
