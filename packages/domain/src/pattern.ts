import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

const MAX_CHARS = 1_000
/** Instructions of the compiled program: the upper limit of steps for each character of text. */
const MAX_SIZE = 500
const MAX_CACHED = 500
const compiledPatterns = new LRUCache<string, { pattern: LinearPattern | undefined }>({
  max: MAX_CACHED,
})

/** A regular expression that is matched in time linear in the text. */
export interface LinearPattern {
  /** True if the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** Maximum number of steps for each character of text. */
  size: number
}

/**
 * Compiles a pattern of RE2's dialect, which is that of pydantic. Answers undefined for another
 * dialect (look-around, back-references) and for a pattern that is too large. Patterns come from
 * uploaded sources, so no engine that backtracks may see them.
 */
export function linearPattern(text: string): LinearPattern | undefined {
  const cached = compiledPatterns.get(text)
  if (cached) return cached.pattern
  const pattern = compile(text)
  compiledPatterns.set(text, { pattern })
  return pattern
}

function compile(text: string): LinearPattern | undefined {
  if (text.length > MAX_CHARS) return undefined
  try {
    const compiled = RE2JS.compile(text)
    const size = compiled.programSize()
    return size > MAX_SIZE ? undefined : { size, test: (subject) => compiled.test(subject) }
  } catch {
    return undefined
  }
}
