/**
 * Fewer than this many distinct characters occur in 24 random digits with a probability below 1 in 10,000.
 */
const MIN_DISTINCT_CHARS = 6
const MAX_SEQUENCE_SHARE = 0.5

/**
 * Returns what makes a secret guessable; undefined if nothing obvious does. A secret is guessable if it is
 * short, repeats itself, has few distinct characters, or counts through an alphabet. Recognizes mistakes,
 * not bad randomness.
 */
export function findWeakness(secret: string, minChars: number): string | undefined {
  const { length } = secret
  if (length < minChars) return `has ${length} characters and needs at least ${minChars}`
  if (new Set(secret).size < MIN_DISTINCT_CHARS)
    return `has fewer than ${MIN_DISTINCT_CHARS} different characters`
  if (periodOf(secret) <= length / 2) return 'repeats itself'
  if (countNeighbours(secret) > MAX_SEQUENCE_SHARE * length) return 'is a sequence of characters'
  return undefined
}

/** Length of the shortest text whose repetition, cut off at the end, gives this text. */
function periodOf(text: string): number {
  for (let period = 1; period < text.length; period++)
    if (text.startsWith(text.slice(period))) return period
  return text.length
}

/** Number of characters that are equal or next, in the alphabet, to the one before. */
function countNeighbours(text: string): number {
  let count = 0
  for (let i = 1; i < text.length; i++)
    if (Math.abs(text.charCodeAt(i) - text.charCodeAt(i - 1)) <= 1) count++
  return count
}
