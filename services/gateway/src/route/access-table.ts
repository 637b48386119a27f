import { permits } from '@windlass/domain/permissions'
import { BUILT_IN_ROLES } from '../access/built-in-roles.ts'
import { ruleOf } from '../access/rules.ts'
import { bodyTable } from './body-table.ts'
import { namespaceAccessTable } from './namespace-access.ts'
import type { Route } from './route.ts'

/** Access of a caller: always, never, or only to its own worker or execution. */
export type Verdict = 'yes' | 'no' | 'own'

/**
 * Callers: anonymous, without permissions, with each built-in role, with a worker session token,
 * and with the token of an execution that an administrator started.
 */
export const CALLER_KINDS = [
  'anonymous',
  'no_permissions',
  ...Object.keys(BUILT_IN_ROLES),
  'session',
  'execution',
] as const

/** Returns the access of a caller kind, assuming that the objects require nothing more. */
export function accessFor(access: string, callerKind: string): Verdict {
  if (access === 'public') return 'yes'
  if (callerKind === 'session') return SESSION[access] ?? 'no'
  if (callerKind === 'execution') return EXECUTION[ruleOf(access)?.acceptsExecutionTokens ?? 'none']
  if (callerKind === 'anonymous' || access === 'bootstrap') return 'no'
  const granted = BUILT_IN_ROLES[callerKind] ?? []
  const required =
    ruleOf(access)?.requiredPermissions ?? (access === 'authenticated' ? [] : [access])
  const covered = (needed: string) => granted.some((held) => permits(held, sampleOf(needed)))
  if (!required.every(covered)) return 'no'
  return OWN.has(access) ? 'own' : 'yes'
}

const OWN = new Set(['own worker', 'own execution'])
const SESSION: Record<string, Verdict> = {
  bootstrap: 'yes',
  'own worker': 'own',
  'own execution': 'own',
  'may read configs': 'yes',
}
const EXECUTION = { all: 'yes', own: 'own', none: 'no' } as const

/** A permission with sample values in place of the path parameters. */
const sampleOf = (template: string) => template.replace(/{\w+}/g, 'x')

/** Prints the routes, what each requires and which callers it accepts, as a Markdown page. */
export function accessTable(routes: Iterable<Route>): string {
  const all = [...routes]
  const rows = all.map(({ method, path, access }) => [
    method.toUpperCase(),
    `\`${path}\``,
    ...CALLER_KINDS.map((caller) => SIGNS[accessFor(access, caller)]),
    requirementOf(access),
  ])
  const head = ['method', 'path', ...CALLER_KINDS, 'needs']
  const lines = [head, head.map(() => '---'), ...rows]
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`)
  return [...PREFACE, ...table, '', ...namespaceAccessTable(all), '', ...bodyTable(all), ''].join(
    '\n',
  )
}

const SIGNS: Record<Verdict, string> = { yes: 'yes', no: '·', own: 'own' }

const PREFACE = [
  '# Access',
  '',
  'Generated from the routes of the gateway by `npm run contracts`; a test calls each route as each',
  'caller and compares. Other paths and methods are refused. While `[svc.security.auth].enabled` is',
  'false, permissions are not checked.',
  '',
  'The columns are callers without a token (anonymous), with a token without permissions',
  '(no_permissions), with one of the built-in roles, workers with the token of their session, and',
  'workers with the token of an execution that an administrator started. `·`: refused. `own`: only for',
  'the worker of that name, or for the execution of the token. An object may require more than its',
  'route, as a workflow with `required_permissions` does.',
  '',
]

function requirementOf(access: string): string {
  const rule = ruleOf(access)
  if (rule) return `*${access}*: ${rule.summary}`
  if (access === 'public') return 'nothing'
  if (access === 'authenticated') return 'to be authenticated'
  return `\`${access}\``
}
