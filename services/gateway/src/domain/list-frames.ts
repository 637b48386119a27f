import { quote } from '@windlass/runtime/json/json'
import { frame } from './frames.ts'

interface Row {
  id: string
  revision: number | null
  row_json: string
}

interface Update {
  rows: readonly Row[]
  skipped: number
  isLost: boolean
}

/** Prints the frames of one update of a list; the last one has the new cursor. */
export function listFrames(
  topic: string,
  { rows, skipped, isLost }: Update,
  cursors: { before: number; after: number },
): string {
  const parts: [event: string, data: string][] = rows.map(({ id, revision, row_json }) => [
    topic,
    `{"id":${quote(id)},"revision":${revision},"row":${row_json}}`,
  ])
  if (skipped > 0) parts.push(['skipped', `{"topic":${quote(topic)},"rows":${skipped}}`])
  if (isLost) parts.push(['resync', `{"topic":${quote(topic)}}`])
  const last = parts.length - 1
  return parts
    .map(([event, data], i) => frame(i === last ? cursors.after : cursors.before, event, data))
    .join('')
}
