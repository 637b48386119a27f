import { parseArgs } from 'node:util'

const PORT_MAX = 65_535
const WORKERS_MAX = 32

export const START_HELP = `Starts Windlass on this machine: PostgreSQL, NATS and Redis of its own, the services, and a
Python worker. What is missing is installed first. Ctrl-C stops everything.

  npm start -- [options]          or:  npx windlass server [options]

  --port N      the port of the HTTP API on 127.0.0.1 (default 8000; 0: any free one)
  --auth        turn authentication on: create the secrets that it needs and, at the first start,
                the first administrator's key
  --workers N   how many Python workers to run (default 1; 0 with authentication on, because a
                worker runs uploaded code and is better started elsewhere)
  --worker-env NAME
                pass this variable to the workers too; without it they get only PATH, HOME, and the
                variables of locale, proxy and Python; may be given several times
  --single-process
                run all services in one process: faster and smaller on one machine, but none can be
                restarted or replicated by itself
  --data-dir D  keep data, logs and secrets in this folder instead of the project's own; npx windlass then
                needs --server-url, because it looks for the system in the project's own folder
  --open        open the web console in the browser
  --no-demo     do not upload examples and run examples/hello_world.py, and do not let the console
                kill the worker for its demonstration
  --help        this text

Settings are read from svc.toml and from SVC_* variables.
`

export interface StartOptions {
  port: number
  /** Undefined: depends on authentication. */
  workers: number | undefined
  workerVariables: string[]
  auth: boolean
  dataDir: string | undefined
  demo: boolean
  open: boolean
  /** True: all services in one process. */
  singleProcess: boolean
  help: boolean
}

/** Reads the arguments of `npm start`; throws a sentence for the user when one is wrong. */
export function startOptions(args: string[]): StartOptions {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: '8000' },
      workers: { type: 'string' },
      'worker-env': { type: 'string', multiple: true, default: [] },
      auth: { type: 'boolean', default: false },
      'data-dir': { type: 'string' },
      open: { type: 'boolean', default: false },
      'single-process': { type: 'boolean', default: false },
      'no-demo': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    port: whole('--port', values.port, { least: 0, most: PORT_MAX }),
    workers:
      values.workers === undefined
        ? undefined
        : whole('--workers', values.workers, { least: 0, most: WORKERS_MAX }),
    workerVariables: values['worker-env'].map(variable),
    auth: values.auth,
    dataDir: values['data-dir'],
    demo: !values['no-demo'],
    open: values.open,
    singleProcess: values['single-process'],
    help: values.help,
  }
}

function variable(name: string): string {
  if (!/^SVC_/i.test(name)) return name
  throw new Error(`--worker-env must not name a setting of the server, such as ${name}`)
}

function whole(name: string, text: string, { least, most }: { least: number; most: number }) {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new Error(`${name} must be a whole number from ${least} to ${most}, not "${text}"`)
}
