/**
 * Text of an f-string: up to the closing quote or, in a format specification, to the end of the
 * field.
 */
export interface TextPart {
  quote: string
  raw: boolean
  inSpecification: boolean
}

export interface Bracket {
  open: string
  at: number
  /** Set if the bracket opens an f-string field: the text that continues after it. */
  resume?: TextPart
}
