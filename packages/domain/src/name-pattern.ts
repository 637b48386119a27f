/**
 * Matches a pattern in which `*` stands for any characters. Each part between two stars is searched
 * once from left to right, so the time is bounded by pattern times name.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (!name.startsWith(first)) return false
  const last = rest.pop()
  if (last === undefined) return name === first
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - at >= last.length && name.endsWith(last)
}
