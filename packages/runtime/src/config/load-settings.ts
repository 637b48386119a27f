import { existsSync, readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { ConfigError } from './config-error.ts'
import { describeProblem, type ReadSettings, type Tree } from './describe-problem.ts'
import { Settings } from './settings.ts'

const PREFIX = 'SVC_'
/** Names that the contract defines without the prefix. */
const ALIASES: Record<string, string> = {
  MAX_WORKFLOW_UPLOAD_BYTES: 'SVC_CATALOG__MAX_WORKFLOW_UPLOAD_BYTES',
}
/** Options of workers, which the workers check themselves; `[svc.worker]` in the file. */
const WORKER_PREFIX = 'SVC_WORKER__'
/** Variables that configure the process itself and are not settings. */
const NOT_SETTINGS = new Set(['SVC_CONFIG', 'SVC_LOG_LEVEL', 'SVC_AUTH_TOKEN'])

/**
 * Reads all settings: defaults, then the `[svc]` table of the file named by SVC_CONFIG (else `svc.toml` in
 * the working directory), then variables such as SVC_WORKERS__REGISTER_RATE_LIMIT for
 * `[svc.workers].register_rate_limit`. An unknown key or a value out of range stops the start.
 */
export const loadSettings = (env: NodeJS.ProcessEnv = process.env): Settings =>
  readSettings(env).settings

/** The same, with the values that were read and where they came from. */
export function readSettings(env: NodeJS.ProcessEnv): { settings: Settings; read: ReadSettings } {
  const file = fileOf(env)
  const tree = file ? readTable(file) : {}
  const read: ReadSettings = { tree, file, variables: assignVariables(tree, env) }
  // Parsed once: compiling the parsers would take longer.
  const result = Settings.safeParse(tree, { jitless: true })
  if (result.success) return { settings: result.data, read }
  const problems = result.error.issues.map((issue) => describeProblem(Settings, issue, read))
  throw new ConfigError(`invalid configuration: ${problems.join('; ')}`)
}

/** The same for programs without a log: prints the problem in one line and exits with 1. */
export function loadSettingsOrExit(): Settings {
  try {
    return loadSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

const fileOf = (env: NodeJS.ProcessEnv) =>
  env.SVC_CONFIG ?? (existsSync('svc.toml') ? 'svc.toml' : undefined)

/** True if file or environment set an option of workers. */
export function hasWorkerSettings(env: NodeJS.ProcessEnv): boolean {
  const file = fileOf(env)
  const svc = file ? (parseFile(file).svc as Tree | undefined) : undefined
  const names = Object.keys(env).map((name) => name.toUpperCase())
  return svc?.worker !== undefined || names.some((name) => name.startsWith(WORKER_PREFIX))
}

/** Adds the variables to the tree; returns the variable of each setting, by its dotted path. */
function assignVariables(tree: Tree, env: NodeJS.ProcessEnv): Map<string, string> {
  const variables = new Map<string, string>()
  for (const [name, value] of Object.entries(env)) {
    const key = ALIASES[name] ?? name
    if (!isSetting(key) || value === undefined) continue
    const path = key.slice(PREFIX.length).toLowerCase().split('__')
    assign(tree, path, value)
    variables.set(path.join('.'), name)
  }
  return variables
}

const isSetting = (name: string): boolean =>
  name.toUpperCase().startsWith(PREFIX) &&
  !name.toUpperCase().startsWith(WORKER_PREFIX) &&
  !NOT_SETTINGS.has(name)

/**
 * The token with which a program that a person starts calls the API. It is not a setting, because it does
 * not belong to the server.
 */
export const callerToken = (env: NodeJS.ProcessEnv = process.env): string | undefined =>
  env.SVC_AUTH_TOKEN?.trim() || undefined

function readTable(path: string): Tree {
  const file = parseFile(path)
  const unknown = Object.keys(file).find((key) => key !== 'svc')
  if (unknown !== undefined)
    throw new ConfigError(
      `invalid configuration: ${path}: ${unknown} is outside of [svc]; expected tables such as [svc.server]`,
    )
  const { svc = {} } = file
  if (typeof svc !== 'object' || Array.isArray(svc))
    throw new ConfigError(`invalid configuration: ${path}: svc is no table; expected [svc]`)
  const { worker: _, ...settings } = structuredClone(svc as Tree)
  return settings
}

function parseFile(path: string): Tree {
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const { message } = error as Error
    if (!(error instanceof TomlError))
      throw new ConfigError(`invalid configuration: cannot read ${path}: ${message}`)
    const [reason = ''] = message.split('\n')
    throw new ConfigError(
      `invalid configuration: ${path}, line ${error.line}, column ${error.column}: ${reason}`,
    )
  }
}

function assign(tree: Tree, [key = '', ...rest]: string[], value: string): void {
  if (rest.length === 0) {
    Object.defineProperty(tree, key, { value, enumerable: true, configurable: true })
    return
  }
  if (typeof tree[key] !== 'object' || tree[key] === null) tree[key] = {}
  assign(tree[key] as Tree, rest, value)
}
