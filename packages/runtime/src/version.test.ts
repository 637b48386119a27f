import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from './version.ts'

test('the version: that of the root package.json', () => {
  const root = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  expect(VERSION).toBe(JSON.parse(root).version)
})
