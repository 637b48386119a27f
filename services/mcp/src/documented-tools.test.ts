import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tools } from './tools.ts'

test('docs/mcp.md: lists each tool once', () => {
  const document = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8')
  const [, section = ''] = /^## Tools$(.*?)^## /ms.exec(document) ?? []
  const listed = [...section.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
})
