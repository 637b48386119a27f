/**
 * Characters that can deceive a reader: controls other than tab and line break (ANSI codes begin with one),
 * marks that change the direction of a text, and characters without a width.
 */
const DECEPTIVE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/

const CONTROL_PICTURES = 0x24_00
const DELETE = 0x7f
const FIRST_PRINTED = 0x20

export interface VisiblePart {
  text: string
  /** True if the text is one character that has no visible form of its own. */
  isMark: boolean
}

/** A sign for such a character: `␛`, or its number as `U+202E`. */
function signOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < FIRST_PRINTED) return String.fromCharCode(CONTROL_PICTURES + code)
  return code === DELETE ? '␡' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** Parts of a text in which each such character is a part of its own. */
export function visibleParts(text: string): VisiblePart[] {
  return text
    .split(new RegExp(`(${DECEPTIVE.source})`))
    .filter((part) => part !== '')
    .map((part) =>
      part.length === 1 && DECEPTIVE.test(part)
        ? { text: signOf(part), isMark: true }
        : { text: part, isMark: false },
    )
}
