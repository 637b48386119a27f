import { RE2JS } from 're2js'

const MAX_CHARS = 1_000
/** Of the compiled program: what a character of text may cost. */
const MAX_SIZE = 500
const MAX_KEPT = 500
const kept = new Map<string, LinearPattern | undefined>()

/** A regular expression that is matched in time linear in the text. */
export interface LinearPattern {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean
  /** Steps for each character of text, at most. */
  size: number
}

/**
 * A pattern of RE2's dialect, which is that of pydantic's; undefined for another one (look-around,
 * back-references) and for one that is too large. Patterns come from uploaded sources, so nothing
 * that backtracks may ever see them.
 */
export function linearPattern(pattern: string): LinearPattern | undefined {
  if (kept.has(pattern)) return kept.get(pattern)
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string)
  const compiled = compile(pattern)
  kept.set(pattern, compiled)
  return compiled
}

function compile(pattern: string): LinearPattern | undefined {
  if (pattern.length > MAX_CHARS) return undefined
  try {
    const compiled = RE2JS.compile(pattern)
    const size = compiled.programSize()
    return size > MAX_SIZE ? undefined : { size, test: (text) => compiled.test(text) }
  } catch {
    return undefined
  }
}
