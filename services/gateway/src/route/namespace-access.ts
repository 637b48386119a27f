import { covers, onlyPermissions } from '@windlass/domain/permissions'
import { ruleOf } from '../access/rules.ts'
import type { Route } from './route.ts'

/** Roles for one namespace, which docs/security.md recommends. */
const NAMESPACE_ROLES: Record<string, (namespace: string) => string[]> = {
  reader: (namespace) =>
    ['workflow', 'execution', 'schedule'].map((resource) => `${resource}:${namespace}:*:read`),
  runner: (namespace) => [`workflow:${namespace}:*:run`, `workflow:${namespace}:*:task:*:execute`],
  team: (namespace) =>
    ['workflow', 'execution', 'schedule'].map((resource) => `${resource}:${namespace}:*`),
}

/** `visible`: a list of what the caller may read. */
type NamespaceVerdict = 'yes' | 'visible' | 'no'

/**
 * Returns the access of a role of one namespace to a route, for the objects of its own or of another
 * namespace, as far as objects do not require more.
 */
export function namespaceAccessFor(
  access: string,
  { role, isOwn }: { role: string; isOwn: boolean },
): NamespaceVerdict {
  if (access === 'public' || access === 'authenticated') return 'yes'
  if (access === 'bootstrap') return 'no'
  const rule = ruleOf(access)
  const required = rule?.namespacePermissions ?? rule?.requiredPermissions ?? [access]
  const granted = onlyPermissions(NAMESPACE_ROLES[role]?.('own') ?? [])
  const may = (namespace: string) =>
    required.every((needed) =>
      covers(granted, needed.replace('{namespace}', namespace).replace(/{\w+}/g, 'x')),
    )
  if (rule?.isFiltered) return may('own') ? 'visible' : 'no'
  return may(isOwn ? 'own' : 'other') ? 'yes' : 'no'
}

const SIGNS: Record<NamespaceVerdict, string> = { yes: 'yes', visible: 'visible', no: '·' }

/** Prints the access of each role of a namespace, as a section of the access page. */
export function namespaceAccessTable(routes: Iterable<Route>): string[] {
  const roles = Object.keys(NAMESPACE_ROLES)
  const rows = [...routes].flatMap(({ method, path, access }) => {
    const own = roles.map((role) => namespaceAccessFor(access, { role, isOwn: true }))
    const other = namespaceAccessFor(access, { role: 'team', isOwn: false })
    if (own.every((verdict) => verdict === 'no')) return []
    return [[method.toUpperCase(), `\`${path}\``, ...[...own, other].map((one) => SIGNS[one])]]
  })
  const head = ['method', 'path', ...roles, 'team, other namespace']
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [...PREFACE, ...lines]
}

const PREFACE = [
  '## Roles of one namespace',
  '',
  'Access of a role that has permissions of one namespace only, to the objects of that namespace; the',
  'last column is the access of the role `team` to objects of another namespace. `visible`: the list',
  'and its totals contain what the caller may read. The roles are `reader`',
  '(`workflow:<namespace>:*:read`, `execution:<namespace>:*:read`, `schedule:<namespace>:*:read`),',
  '`runner` (`workflow:<namespace>:*:run`, `workflow:<namespace>:*:task:*:execute`) and `team`',
  '(`workflow:<namespace>:*`, `execution:<namespace>:*`, `schedule:<namespace>:*`). All other routes',
  'refuse them. `tests/security/two-tenants.test.ts` compares the last column.',
  '',
]
