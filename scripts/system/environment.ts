// Environment of each child process: least privilege, so that no process holds a secret it does not use.

const SETTING = /^SVC_/i

/** Options of the worker itself. */
const WORKER_OPTION = /^SVC_WORKER__/i

/** Variables of the machine that a worker and the code it runs need. */
const WORKER_VARIABLES = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM)$/,
  /^PYTHON\w*$/,
  /^(HTTP|HTTPS|ALL|NO)_PROXY$/i,
  /^(SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/,
]

/** Settings that every service reads: `SVC_<name>` and `SVC_<name>__…`, or all that begin so. */
const COMMON = [
  'CONFIG',
  'LOG_LEVEL',
  'LISTEN__',
  'ADMIN__',
  'TELEMETRY__',
  'RPC__TLS_',
  'RPC__KEYS',
  'SERVICES__',
]

/** Further settings that one service reads. Passwords and secrets are in as few rows as possible. */
const READS: Record<string, string[]> = {
  identity: [
    'HOME',
    'POSTGRES__MAX_CONNECTIONS',
    'WORKERS__',
    'SECURITY__AUTH__ENABLED',
    'SECURITY__SECRETS',
    'AUDIT__',
    'SECURITY__ENCRYPTION__',
  ],
  catalog: ['POSTGRES__MAX_CONNECTIONS', 'NATS__PREFIX', 'CATALOG__'],
  executions: [
    'POSTGRES__MAX_CONNECTIONS',
    'NATS__PREFIX',
    'EXECUTIONS__',
    'QUOTAS__',
    'RETENTION__',
    'ARCHIVE__',
    'SECURITY__AUTH__ENABLED',
    'SECURITY__EXECUTION_TOKEN_',
  ],
  dispatcher: ['POSTGRES__MAX_CONNECTIONS', 'NATS__PREFIX', 'WORKERS__', 'DISPATCHER__'],
  scheduler: [
    'POSTGRES__MAX_CONNECTIONS',
    'NATS__PREFIX',
    'SCHEDULING__',
    'QUOTAS__',
    'RETENTION__',
    'SECURITY__AUTH__ENABLED',
  ],
  gateway: [
    'NATS__PREFIX',
    'SERVER__',
    'WORKERS__',
    'CATALOG__',
    'EXECUTIONS__',
    'QUOTAS__',
    'CONSOLE__',
    'SECURITY__AUTH__',
    'AUDIT__',
    'SECURITY__EXECUTION_TOKEN_',
  ],
  mcp: ['MCP__', 'SERVER__', 'SECURITY__AUTH__ENABLED'],
}

/** The bootstrap token is in a section that several services read, but only one service compares it. */
const BOOTSTRAP_TOKEN = 'SVC_WORKERS__BOOTSTRAP_TOKEN'

/** All variables but settings: for programs that are not services, such as PostgreSQL and pip. */
export const generalEnv = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  pick(env, (name) => !SETTING.test(name))

/** General variables and the settings that this service reads. */
export const settingsEnv = (
  service: string,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv =>
  pick(env, (name) => !SETTING.test(name) || reads(service, name.toUpperCase()))

/** Variables for a worker: an allow-list, and the names that the user adds to it (`--worker-env`). */
export const workerEnv = (
  added: string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv =>
  pick(
    env,
    (name) =>
      WORKER_OPTION.test(name) ||
      (!SETTING.test(name) &&
        (added.includes(name) || WORKER_VARIABLES.some((allowed) => allowed.test(name)))),
  )

function reads(service: string, name: string): boolean {
  if (name === BOOTSTRAP_TOKEN && service !== 'identity') return false
  const key = name.slice('SVC_'.length)
  return [...COMMON, ...(READS[service] ?? [])].some((known) =>
    known.endsWith('_') ? key.startsWith(known) : key === known,
  )
}

const pick = (env: NodeJS.ProcessEnv, wanted: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => wanted(name)))
