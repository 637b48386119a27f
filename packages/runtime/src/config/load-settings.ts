import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { z } from 'zod'
import { Settings } from './settings.ts'

type Tree = { [key: string]: unknown }

const PREFIX = 'SVC_'
/** Names that the contract gives outside of the prefix. */
const ALIASES: Record<string, string> = {
  MAX_WORKFLOW_UPLOAD_BYTES: 'SVC_CATALOG__MAX_WORKFLOW_UPLOAD_BYTES',
}
/** These steer the process itself and are no settings. */
const NOT_SETTINGS = new Set(['SVC_CONFIG', 'SVC_LOG_LEVEL', 'SVC_AUTH_TOKEN'])

/**
 * All settings: defaults, then the `[svc]` table of the file named by SVC_CONFIG (else `svc.toml`
 * in the working directory), then variables such as SVC_WORKERS__REGISTER_RATE_LIMIT for
 * `[svc.workers].register_rate_limit`. An unknown key or a value out of range stops the start.
 */
export function loadSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const path = env.SVC_CONFIG ?? (existsSync('svc.toml') ? 'svc.toml' : undefined)
  const tree = path ? readTable(path) : {}
  for (const [name, value] of Object.entries(env)) {
    const key = ALIASES[name] ?? name
    if (!key.toUpperCase().startsWith(PREFIX) || NOT_SETTINGS.has(key) || value === undefined)
      continue
    assign(tree, key.slice(PREFIX.length).toLowerCase().split('__'), value)
  }
  const result = Settings.safeParse(tree)
  if (!result.success) throw new Error(`invalid configuration: ${z.prettifyError(result.error)}`)
  return result.data
}

/** The token that a program started by a person calls the API with. No setting: it is not the server's. */
export const callerToken = (env: NodeJS.ProcessEnv = process.env): string | undefined =>
  env.SVC_AUTH_TOKEN?.trim() || undefined

function readTable(path: string): Tree {
  const file = parse(readFileSync(path, 'utf8'))
  const unknown = Object.keys(file).filter((key) => key !== 'svc')
  if (unknown.length > 0) throw new Error(`invalid configuration: ${path} has [${unknown[0]}]`)
  return structuredClone((file.svc ?? {}) as Tree)
}

function assign(tree: Tree, [key = '', ...rest]: string[], value: string): void {
  if (rest.length === 0) {
    Object.defineProperty(tree, key, { value, enumerable: true, configurable: true })
    return
  }
  if (typeof tree[key] !== 'object' || tree[key] === null) tree[key] = {}
  assign(tree[key] as Tree, rest, value)
}
