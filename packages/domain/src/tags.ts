/** Tags of an execution: labels by which it can be found. */
export type Tags = Record<string, string>

export const MAX_TAGS = 16
export const TAG_KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
/** A comma separates tags in a query. */
export const TAG_VALUE = /^[^,\p{Cc}\p{Cs}]{0,128}$/u

/** Returns what is wrong with tags, as a sentence; undefined if they are valid. */
export function problemOfTags(tags: Tags): string | undefined {
  const entries = Object.entries(tags)
  if (entries.length > MAX_TAGS)
    return `There are ${entries.length} tags; at most ${MAX_TAGS} are allowed.`
  const wrong = entries.find(([key, value]) => !TAG_KEY.test(key) || !TAG_VALUE.test(value))
  if (!wrong) return undefined
  return `The tag '${wrong[0].slice(0, 63)}' is malformed: a key has up to 63 letters, digits, '.', '_' and '-', a value up to 128 characters without commas and control characters.`
}

/** Parses `key=value,key=value`; undefined if a part has no `=` or a key occurs twice. */
export function parseTags(text: string): Tags | undefined {
  const tags: Tags = {}
  if (text === '') return tags
  for (const part of text.split(',')) {
    const at = part.indexOf('=')
    const key = part.slice(0, at)
    if (at < 1 || Object.hasOwn(tags, key) || !TAG_KEY.test(key)) return undefined
    tags[key] = part.slice(at + 1)
  }
  return tags
}
