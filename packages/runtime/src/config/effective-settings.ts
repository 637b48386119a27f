import { isHidden, type Tree } from './describe-problem.ts'
import { readSettings } from './load-settings.ts'

/** One setting as it is in effect. */
export interface SettingWithOrigin {
  /** Dotted path below `svc`. */
  path: string
  /** In TOML; `(hidden)` for a secret, and URLs without their credentials. */
  value: string
  /** Variable or file that sets it, or `default`. */
  origin: string
}

/** Lists all settings with their values and origins, without secrets. Throws ConfigError. */
export function listEffectiveSettings(env: NodeJS.ProcessEnv): SettingWithOrigin[] {
  const { settings, read } = readSettings(env)
  const inFile = new Set(leaves(read.tree).map(([path]) => path))
  return leaves(settings).map(([path, value]) => ({
    path,
    value: shown(path, value),
    origin: read.variables.get(path) ?? (read.file && inFile.has(path) ? read.file : 'default'),
  }))
}

/** Values by their dotted paths; a list is a value. */
function leaves(tree: Tree, prefix = ''): [string, unknown][] {
  return Object.entries(tree).flatMap(([key, value]): [string, unknown][] =>
    isTable(value) ? leaves(value, `${prefix}${key}.`) : [[`${prefix}${key}`, value]],
  )
}

const isTable = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function shown(path: string, value: unknown): string {
  if (value === undefined) return '(unset)'
  if (path.endsWith('url') && typeof value === 'string') return withoutCredentials(value)
  return isHidden(path) && !isEmpty(value) ? '(hidden)' : JSON.stringify(value)
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0

/** A URL of PostgreSQL with several hosts, which `URL` refuses: scheme, hosts with ports, path. */
const SEVERAL_HOSTS =
  /^(postgres(?:ql)?:\/\/)(?:[^@/?#,]*@)?([\w.:[\]-]+(?:,[\w.:[\]-]+)+)(\/[\w.-]*)?(?:\?.*)?$/

/** Scheme, host, port and path; the query of a URL of PostgreSQL may hold a password too. */
function withoutCredentials(text: string): string {
  const [, scheme, hosts, path = ''] = SEVERAL_HOSTS.exec(text) ?? []
  if (scheme && hosts) return JSON.stringify(scheme + hosts + path)
  if (!URL.canParse(text)) return '(hidden)'
  const { protocol, host, pathname } = new URL(text)
  return JSON.stringify(`${protocol}//${host}${pathname === '/' ? '' : pathname}`)
}
