/** Control characters except tab and line feed, and characters that change the order of text. */
const CONTROLS = /[^\P{Cc}\t\n]|\p{Bidi_Control}/gu

const escapeCharacter = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Replaces what a terminal would act on, such as the start of an escape sequence, by its JSON escape: names,
 * errors and lines of workflows are written by others. JSON text keeps its value.
 */
export const escapeControls = (text: string): string => text.replace(CONTROLS, escapeCharacter)

/** The same for a text that must stay on one line. */
export const escapeLine = (text: string): string =>
  escapeControls(text).replace(/[\t\n]/g, escapeCharacter)

interface Output {
  isTTY?: boolean
  write(text: string): unknown
}

/** Returns a function that writes to an output: to a terminal with controls escaped, else unchanged. */
export const createWriter =
  (output: Output) =>
  (text: string): void =>
    void output.write(output.isTTY ? escapeControls(text) : text)
