import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDER = new URL('../../tests/security/', import.meta.url)

test('tests/security/README.md: names each test file of its folder', () => {
  const text = readFileSync(new URL('README.md', FOLDER), 'utf8')
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'))
  const missing = files.filter((name) => !text.includes(`\`tests/security/${name}\``))
  expect(missing).toEqual([])
  expect(files.length).toBeGreaterThan(20)
})
