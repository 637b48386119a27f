/** Blocks whose characters fill two columns of a terminal (Unicode, East Asian Width), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** Characters that are drawn on the one before, or not at all. */
const ZERO = /\p{Mn}|\p{Me}|\p{Cf}/u

/** Number of columns that a terminal needs for a text without control characters. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

/** Adds blanks up to this number of columns. */
export const padToWidth = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - displayWidth(text)))
