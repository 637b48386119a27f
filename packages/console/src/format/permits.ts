/**
 * True if a granted permission covers a required one, as `permits` of packages/domain, which a browser may
 * not import; a test compares both. A `*` stands for one segment, or at the end for all that remain.
 */
export function permits(granted: string, needed: string): boolean {
  const held = granted.split(':')
  const asked = needed.split(':')
  const isOpen = held.at(-1) === '*'
  if (isOpen) held.pop()
  if (isOpen ? asked.length < held.length : asked.length !== held.length) return false
  return held.every((segment, i) => segment === '*' || segment === asked[i])
}
