const VERSION = /^v?(\d+(?:\.\d+)*)[._-]?([a-z]*)[._-]?(\d*)/

/** Order of suffixes relative to the release (PEP 440): before it (`rc1`) or after it (`post1`). */
const RANKS = new Map([
  ['dev', -4],
  ['a', -3],
  ['alpha', -3],
  ['b', -2],
  ['beta', -2],
  ['c', -1],
  ['rc', -1],
  ['pre', -1],
  ['', 0],
  ['post', 1],
  ['rev', 1],
  ['r', 1],
])

/** Parses a version into release parts, suffix rank and suffix number; undefined for other texts. */
function parse(text: string): { release: number[]; rank: number; suffix: number } | undefined {
  const match = VERSION.exec(withoutLocal(text).toLowerCase())
  if (!match) return undefined
  const [, release = '', label = '', number = ''] = match
  return {
    release: release.split('.').map(Number),
    rank: RANKS.get(label) ?? 0,
    suffix: Number(number),
  }
}

const withoutLocal = (text: string): string => text.trim().split('+')[0] ?? ''

/**
 * Compares Python package versions as pip does (the part of PEP 440 that requirements use): parts by
 * number, missing parts as 0, pre-releases before their release. Undefined if either is not a version.
 */
export function compareVersions(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)]
  if (!left || !right) return undefined
  const length = Math.max(left.release.length, right.release.length)
  for (let i = 0; i < length; i++) {
    const difference = (left.release[i] ?? 0) - (right.release[i] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(left.rank - right.rank || left.suffix - right.suffix)
}
