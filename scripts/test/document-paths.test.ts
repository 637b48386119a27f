import { expect, test } from 'vitest'
import {
  anchorsOf,
  headingAnchorsOf,
  isNamedIn,
  namedLinksOf,
  pathsOf,
} from '../lint/lib/document-paths.ts'

test('a document: paths between backticks and targets of links, each with its line', () => {
  const text = `See \`services/a/src/b.ts\` and \`tests/e2e/\`.
[one](adr/0001.md#why), [two](../README.md), \`packages/runtime\` and \`npm test\`,
[three](https://example.com/x.md), [four](#here), \`POST /services/x.md\`.`
  expect(pathsOf('docs/page.md', text)).toEqual([
    { path: 'services/a/src/b.ts', line: 1 },
    { path: 'tests/e2e/', line: 1 },
    { path: 'docs/adr/0001.md', line: 2 },
    { path: 'README.md', line: 2 },
  ])
})

test('links to headings: the document, also the same one, and the anchor', () => {
  const text =
    '[a](adr/1.md#why), [b](#here), [c](../src/a.ts#L3), [d](https://x.test/y.md#z), [e](b.md)'
  expect(anchorsOf('docs/page.md', text)).toEqual([
    { path: 'docs/adr/1.md', anchor: 'why' },
    { path: 'docs/page.md', anchor: 'here' },
  ])
})

test('headings of a document: their anchors, without comments in code', () => {
  const text =
    "# Compose: one machine\n## `patched`: both\n### Workers on the server's\n```sh\n# no\n```\n"
  expect([...headingAnchorsOf(text)]).toEqual([
    'compose-one-machine',
    'patched-both',
    'workers-on-the-servers',
  ])
})

test('a link named after code: its name and its file', () => {
  const text = '[`Cache.get`](../src/cache.ts), [`page`](page.md) and [cache](../src/cache.ts)'
  expect(namedLinksOf('docs/page.md', text)).toEqual([{ name: 'Cache.get', path: 'src/cache.ts' }])
})

test('a name in code: each part of it is a word there', () => {
  const code = 'class Cache {\n  #getAll() {}\n}'
  expect(isNamedIn(code, 'Cache.getAll')).toBe(true)
  expect(isNamedIn(code, 'Cache.get')).toBe(false)
})
