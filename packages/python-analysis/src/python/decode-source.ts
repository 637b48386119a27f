import { invalid } from '@windlass/runtime/faults'

const COOKIE = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/
const UTF_8 = /^(utf-?8(-sig)?|u8|(us-)?ascii)$/

/**
 * Decodes a source as a Python worker would: UTF-8, without byte order mark, lines ending in a
 * newline. Throws `invalid` for other encodings, declared or found, and for null bytes.
 */
export function decodeSource(bytes: Uint8Array): string {
  if (bytes.includes(0)) throw invalid('The source contains a null byte.')
  const text = decodeUtf8(bytes).replace(/\r\n?/g, '\n')
  const declared = declaredEncoding(text)
  if (declared && !UTF_8.test(declared.toLowerCase().replaceAll('_', '-'))) {
    throw invalid(`The source declares the encoding '${declared.slice(0, 40)}'; it must be UTF-8.`)
  }
  return text
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid('The source is not UTF-8.')
  }
}

/**
 * Returns the encoding of PEP 263: a comment in the first line, or in the second if the first is
 * blank or a comment.
 */
function declaredEncoding(text: string): string | undefined {
  const [first = '', second = ''] = text.split('\n', 2)
  const inFirst = COOKIE.exec(first)?.[1]
  return inFirst ?? (/^[ \t\f]*(#|$)/.test(first) ? COOKIE.exec(second)?.[1] : undefined)
}
