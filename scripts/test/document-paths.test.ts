import { expect, test } from 'vitest'
import { isNamedIn, namedLinksOf, pathsOf } from '../lint/lib/document-paths.ts'

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

test('a link named after code: its name and its file', () => {
  const text = '[`Cache.get`](../src/cache.ts), [`page`](page.md) and [cache](../src/cache.ts)'
  expect(namedLinksOf('docs/page.md', text)).toEqual([{ name: 'Cache.get', path: 'src/cache.ts' }])
})

test('a name in code: each part of it is a word there', () => {
  const code = 'class Cache {\n  #getAll() {}\n}'
  expect(isNamedIn(code, 'Cache.getAll')).toBe(true)
  expect(isNamedIn(code, 'Cache.get')).toBe(false)
})
