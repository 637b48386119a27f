import { expect, test } from 'vitest'
import { decodeSource } from './decode-source.ts'

test.each([
  ['UTF-8', Buffer.from('x = "ü, 世界 🚀"\n'), 'x = "ü, 世界 🚀"\n'],
  ['a byte order mark, which is dropped', Buffer.from('\ufeffx\n'), 'x\n'],
  ['any line ends, which become newlines', Buffer.from('a\r\nb\rc\n'), 'a\nb\nc\n'],
  ['a declaration of UTF-8', Buffer.from('# -*- coding: UTF-8 -*-\n'), '# -*- coding: UTF-8 -*-\n'],
  ['a declaration of ASCII', Buffer.from('#!x\n# coding=ascii\n'), '#!x\n# coding=ascii\n'],
  ['code that looks like a declaration', Buffer.from('coding="latin-1"\n'), 'coding="latin-1"\n'],
  ['a declaration too late to count', Buffer.from('a\n\n# coding: x\n'), 'a\n\n# coding: x\n'],
])('%s: decoded', (_, bytes, text) => {
  expect(decodeSource(bytes)).toBe(text)
})

test.each([
  ['bytes that are not UTF-8', Buffer.from([0x78, 0xff, 0xfe]), 'not UTF-8'],
  ['half a surrogate pair', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'not UTF-8'],
  ['a null byte', Buffer.from('x = 1\0\n'), 'null byte'],
  ['UTF-16', Buffer.from('x = 1\n', 'utf16le'), 'null byte'],
  ['a declaration of latin-1', Buffer.from('# coding: latin-1\n'), "'latin-1'"],
  [
    'a declaration of utf-7 in line 2',
    Buffer.from('\n# vim: set fileencoding=utf-7 :\n'),
    "'utf-7'",
  ],
])('%s: refused', (_, bytes, reason) => {
  expect(() => decodeSource(bytes)).toThrow(
    expect.objectContaining({ kind: 'invalid', message: expect.stringContaining(reason) }),
  )
})
