const VERSION = /^v?(\d+(?:\.\d+)*)[._-]?([a-z]*)[._-]?(\d*)/

/** How a suffix stands to the release it follows: before it (`rc1`), or after it (`post1`). */
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

/** The numbers that order versions: release parts, then rank and number of the suffix. Undefined for other texts. */
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
 * Orders Python package versions the way pip does where it matters here: parts by number, missing
 * ones as 0, pre-releases before their release. Undefined where either is no version.
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
