import { skipBlank, skipString, skipValue } from './json.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

/** An object or array that has begun: the names in it so far (none for an array), and the place that is being read. */
interface Level {
  names: Set<string> | undefined
  at: string | number
  /** True: the next string is a name. */
  isBeforeName: boolean
}

/**
 * Finds the first member that an object of a checked text contains twice; undefined if there is none. The
 * members of the outermost object that are named in `payloads` may contain anything. Takes linear time and
 * no recursion.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scanner is one state machine, clearer in one piece.
export function findDuplicateMember(
  text: string,
  payloads: readonly string[] = [],
): (string | number)[] | undefined {
  const open: Level[] = []
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const level = open.at(-1)
    if (code === QUOTE) {
      const stop = skipString(text, at)
      if (level?.names && level.isBeforeName) {
        const name = JSON.parse(text.slice(at, stop)) as string
        level.at = name
        level.isBeforeName = false
        if (level.names.has(name)) return open.map((one) => one.at)
        level.names.add(name)
        const colon = skipBlank(text, stop)
        const isPayload = open.length === 1 && payloads.includes(name)
        at = isPayload ? skipValue(text, skipBlank(text, colon + 1)) : colon + 1
      } else at = stop
      continue
    }
    if (code === OPEN_OBJECT) open.push({ names: new Set(), at: '', isBeforeName: true })
    else if (code === OPEN_ARRAY) open.push({ names: undefined, at: 0, isBeforeName: false })
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop()
    else if (code === COMMA && level) {
      if (level.names) level.isBeforeName = true
      else level.at = Number(level.at) + 1
    }
    at++
  }
  return undefined
}
