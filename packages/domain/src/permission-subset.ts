/**
 * Returns the permissions that two permissions both cover, as one permission; undefined if there are none.
 * In each, `*` stands for any one segment, and at the end for all remaining segments, or none.
 */
function intersect(one: string, other: string): string | undefined {
  const [a, b] = [parse(one), parse(other)]
  const length = Math.max(a.segments.length, b.segments.length)
  const segments: string[] = []
  for (let i = 0; i < length; i++) {
    const [x, y] = [segmentAt(a, i), segmentAt(b, i)]
    if (x === undefined || y === undefined || (x !== y && x !== '*' && y !== '*')) return undefined
    segments.push(x === '*' ? y : x)
  }
  return [...segments, ...(a.isOpen && b.isOpen ? ['*'] : [])].join(':')
}

interface Pattern {
  segments: string[]
  isOpen: boolean
}

function parse(permission: string): Pattern {
  const segments = permission.split(':')
  const isOpen = segments.at(-1) === '*'
  return { segments: isOpen ? segments.slice(0, -1) : segments, isOpen }
}

const segmentAt = ({ segments, isOpen }: Pattern, i: number) =>
  segments[i] ?? (isOpen ? '*' : undefined)

/** The granted permissions that are also in the subset: exactly what both cover. */
export const restrictTo = (granted: readonly string[], subset: readonly string[]): string[] => [
  ...new Set(granted.flatMap((one) => subset.flatMap((other) => intersect(one, other) ?? []))),
]
