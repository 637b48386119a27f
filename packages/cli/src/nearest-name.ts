/** Number of insertions, deletions and replacements that turn one text into the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** Half of the characters may differ. */
const MAX_PART = 2
const MAX_CHARS = 60

/** The name that is most like a mistyped one; undefined if none is like it. */
export function findNearest(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > MAX_CHARS) return undefined
  const [nearest] = names
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / MAX_PART)))
    .sort((a, b) => a.distance - b.distance)
  return nearest?.name
}

/** Ends a sentence about an unknown name with the nearest one, after the words before it. */
export function suggest(typed: string, names: readonly string[], before = ''): string {
  const nearest = findNearest(typed, names)
  return nearest === undefined ? '' : `; did you mean '${before}${nearest}'?`
}
