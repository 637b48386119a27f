import { parseArgs } from 'node:util'

const PORT_MAX = 65_535
const WORKERS_MAX = 32

export const START_HELP = `Starts Windlass on this machine: PostgreSQL, NATS and Redis of its own, the services, and a
Python worker. What is missing is installed first. Ctrl-C stops everything.

  npm start -- [options]

  --port N      the port of the HTTP API on 127.0.0.1 (default 8000; 0 draws one)
  --workers N   how many Python workers to run (default 1)
  --no-demo     do not upload and run examples/hello_world.py
  --help        this text

Settings are read from svc.toml and from SVC_* variables.
`

/** Reads the arguments of `npm start`; throws a sentence for the user when one is wrong. */
export function startOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: '8000' },
      workers: { type: 'string', default: '1' },
      'no-demo': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    port: whole('--port', values.port, { least: 0, most: PORT_MAX }),
    workers: whole('--workers', values.workers, { least: 0, most: WORKERS_MAX }),
    demo: !values['no-demo'],
    help: values.help,
  }
}

function whole(name, text, { least, most }) {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new Error(`${name} must be a whole number from ${least} to ${most}, not "${text}"`)
}
