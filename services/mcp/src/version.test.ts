import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from './version.ts'

test('VERSION: the version of the project', () => {
  const root = new URL('../../../package.json', import.meta.url)
  expect(JSON.parse(readFileSync(root, 'utf8'))).toMatchObject({ version: VERSION })
})
