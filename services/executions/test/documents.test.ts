import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Trigger, transitions } from '../src/domain/lifecycle.ts'

const triggers = Object.keys(transitions) as Trigger[]

test('docs/lifecycle.md: lists exactly the transitions of the table', () => {
  const text = readFileSync(new URL('../../../docs/lifecycle.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| `(\w+)` \| ([A-Z_, ]+) \| ([A-Z_]+) \|/gm)].flatMap(
    ([, trigger, froms = '', to]) => froms.split(', ').map((from) => `${trigger} ${from} ${to}`),
  )
  const coded = triggers.flatMap((trigger) =>
    Object.entries(transitions[trigger]).map(([from, to]) => `${trigger} ${from} ${to}`),
  )
  expect(documented.sort()).toEqual(coded.sort())
})

test('migrations: each number is used once', () => {
  const files = readdirSync(new URL('../migrations/', import.meta.url))
  const numbers = files.map((file) => Number.parseInt(file, 10)).sort((a, b) => a - b)
  expect(numbers).toEqual(files.map((_, i) => i + 1))
})
