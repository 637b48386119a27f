/** Objects that belong to a namespace, which their permissions name in the second segment. */
const SCOPED = new Set(['workflow', 'execution', 'schedule'])

/**
 * The namespace that a granted permission concerns: its name, `*` for all, and an empty text if it concerns
 * none, as `admin:*`, or a single object, as `execution:<id>:read`.
 */
export function namespaceOfPermission(permission: string): string {
  const segments = permission.split(':')
  const [kind = '', namespace = ''] = segments
  if (kind === '*') return '*'
  if (!SCOPED.has(kind)) return ''
  if (namespace === '*') return '*'
  const isOfNamespace = kind === 'workflow' || segments.length > 3 || segments.at(-1) === '*'
  return isOfNamespace ? namespace : ''
}
