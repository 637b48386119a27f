import { structuredPatch } from 'diff'

export interface SourceChange {
  added: number
  removed: number
  /** Unified diff with three lines of context; empty without changes. */
  patch: string
}

const CONTEXT_LINES = 3
/** Limit on differing lines: beyond it the search for the smallest diff takes too long. */
const MAX_EDITS = 1_000

/** Compares two texts by lines. */
export function diffSources(older: string, newer: string): SourceChange {
  if (older === newer) return { added: 0, removed: 0, patch: '' }
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDITS }
  const found = structuredPatch('', '', older, newer, undefined, undefined, options)
  return found ? summarize(found.hunks) : replaceMiddle(older, newer)
}

type Hunk = NonNullable<ReturnType<typeof structuredPatch>>['hunks'][number]

const summarize = (hunks: Hunk[]): SourceChange => ({
  added: hunks.reduce((sum, { lines }) => sum + lines.filter((l) => l[0] === '+').length, 0),
  removed: hunks.reduce((sum, { lines }) => sum + lines.filter((l) => l[0] === '-').length, 0),
  patch: hunks.map(textOf).join(''),
})

const textOf = ({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string =>
  `@@ -${place(oldStart, oldLines)} +${place(newStart, newLines)} @@\n${lines.join('\n')}\n`

/** A hunk without lines names the line before it. */
const place = (start: number, lines: number) => `${lines === 0 ? start - 1 : start},${lines}`

/** Returns everything between the common head and tail of two texts as one hunk. */
function replaceMiddle(older: string, newer: string): SourceChange {
  const [was, is] = [older.split('\n'), newer.split('\n')]
  const shortest = Math.min(was.length, is.length)
  let head = 0
  while (head < shortest && was[head] === is[head]) head++
  let tail = 0
  while (tail < shortest - head && was.at(-1 - tail) === is.at(-1 - tail)) tail++
  const removed = was.slice(head, was.length - tail)
  const added = is.slice(head, is.length - tail)
  const patch = textOf({
    oldStart: head + 1,
    oldLines: removed.length,
    newStart: head + 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  })
  return { added: added.length, removed: removed.length, patch }
}
