/** True if a granted permission covers a needed one: `*` is one segment, and all that follow at the end. */
export function permits(granted: string, needed: string): boolean {
  const held = granted.split(':')
  const asked = needed.split(':')
  const isOpen = held.at(-1) === '*'
  if (isOpen) held.pop()
  if (isOpen ? asked.length < held.length : asked.length !== held.length) return false
  return held.every((segment, i) => segment === '*' || segment === asked[i])
}
