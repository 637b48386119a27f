const MAX_CHARS = 1_000
/** Longer texts are cut before they are read: a failure's message stands near its beginning. */
const MAX_READ_CHARS = 65_536

/** What a failed execution says of itself, short enough for a line of history: its text, its message, else its JSON. */
export function summarizeFailure(output_json: string): string {
  return textOf(output_json).slice(0, MAX_CHARS)
}

function textOf(output_json: string): string {
  if (output_json.length > MAX_READ_CHARS) return output_json
  const value: unknown = JSON.parse(output_json)
  if (typeof value === 'string') return value
  const message = (value as { message?: unknown } | null)?.message
  return typeof message === 'string' ? message : output_json
}
