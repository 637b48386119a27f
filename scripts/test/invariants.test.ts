import { describe, expect, test } from 'vitest'
import { differences, idsOfFile, idsOfTitle, withTests } from '../lint/lib/invariant-ids.ts'

describe('ids of a title', () => {
  test.each([
    ['E1: an acknowledged write is kept', ['E1']],
    ['A1, A2: a revoked key is refused', ['A1', 'A2']],
    ['K1 to K3: versions have no gap', ['K1', 'K2', 'K3']],
    ['N091 a trailing comma', ['N091']],
    ['N153, N154, N158: a call without credentials', ['N153', 'N154', 'N158']],
    ['V2-event-lost', ['V2']],
    ['a clock that is set back starts nothing (T1, T5)', ['T1', 'T5']],
    ['N064', ['N064']],
    ['P1DT is a duration', []],
    ['the schema of A20 (int)', []],
    ['A0 = int', []],
  ])('%s: %j', (title, ids) => {
    expect(idsOfTitle(title)).toEqual(ids)
  })
})

test('a test file: ids of titles and of rows, none of comments', () => {
  const source = `// C9 is elsewhere
    const rows = [['N091 a comma', 422], ['N064', '/x'], ['C1', 1]]
    const value = 'T1'.length
    test.each(rows)('%s', () => {})
    test('E1: kept', () => {})`
  expect(idsOfFile('tests/e2e/a.test.ts', source)).toEqual(['N091', 'N064', 'E1'])
})

describe('the page', () => {
  const page = '| **E1** | kept | writer | none |\n| **E2** | once | writer | `a.test.ts` |\n'
  const tests = new Map([
    ['E1', new Set(['b.test.ts', 'a.test.ts'])],
    ['E3', new Set(['c.test.ts'])],
  ])

  test('an id without a definition, and cells that differ from the titles: reported', () => {
    expect(differences(page, tests)).toEqual([
      'E3 is not defined: c.test.ts',
      'E1 names none, its tests are `a.test.ts`, `b.test.ts`',
      'E2 names `a.test.ts`, its tests are none',
    ])
  })

  test('an id that is defined twice: reported', () => {
    const twice = '| **E1** | kept | none |\n| **E1** | kept | none |\n'
    expect(differences(twice, new Map())).toEqual(['E1 is defined twice'])
  })

  test('after --write: the cells have the files of the titles, and no difference is left', () => {
    const known = new Map([...tests].filter(([id]) => id !== 'E3'))
    const written = withTests(page, known)
    expect(written).toBe(
      '| **E1** | kept | writer | `a.test.ts`, `b.test.ts` |\n| **E2** | once | writer | none |\n',
    )
    expect(differences(written, known)).toEqual([])
  })
})
