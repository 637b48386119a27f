const MAX_CHARS = 1_000
/** A longer output is not parsed: the summary is then the beginning of its JSON. */
const MAX_READ_CHARS = 65_536

/** Summary of a failed execution for one history entry: its text, its message, otherwise its JSON. */
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
