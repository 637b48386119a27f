/** Texts between commas, blanks and line breaks, each once and in their order. */
export const wordsOf = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((word) => word !== '')),
]

/** A field of a form as trimmed text; empty if it is not there. */
export const fieldText = (fields: FormData, name: string): string =>
  String(fields.get(name) ?? '').trim()
