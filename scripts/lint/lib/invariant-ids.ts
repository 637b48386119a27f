import { textsOf } from './texts.ts'

/** Id to the files whose titles name it. */
export type TestsById = Map<string, Set<string>>

const ID = String.raw`(?:N\d{3}|[A-Z][1-9]\d?)`
/** Ids in front of a title: `E1: …`, `A1, A2: …`, `K1 to K3: …`, `N091 …`, `V2-event-lost`. */
const LEADING = new RegExp(`^(${ID}(?:(?:, | to | and )${ID})*)(?:[: -]|$)`)
/** Ids behind a title: `… (T1, T2)`. */
const TRAILING = new RegExp(String.raw`\((${ID}(?:(?:, | to | and )${ID})*)\)$`)

/** All ids of `K1 to K3`. */
function expandRange(first: string, last: string): string[] {
  const [letter = '', from] = [first[0], Number(first.slice(1))]
  const width = first.length - 1
  return Array.from(
    { length: Number(last.slice(1)) - from + 1 },
    (_, n) => letter + String(from + n).padStart(width, '0'),
  )
}

/** Ids of a list: `A1, A2`, `K1 to K3`. */
const idsOfList = (list: string): string[] =>
  list.split(/, | and /).flatMap((part) => {
    const [first = '', last] = part.split(' to ')
    return last ? expandRange(first, last) : [first]
  })

/** Ids that the title of a test names. */
export const idsOfTitle = (title: string): string[] =>
  [LEADING.exec(title)?.[1], TRAILING.exec(title)?.[1]].flatMap((list) =>
    list ? idsOfList(list) : [],
  )

/** Ids that the titles of a test file name, rows of tables included. */
export const idsOfFile = (path: string, source: string): string[] =>
  textsOf(path, source)
    .filter(({ kind }) => kind === 'title' || kind === 'test')
    .flatMap(({ text }) => idsOfTitle(text.trim()))

/** A definition: a row of a table with a bold id in front and the tests in the last cell. */
const ROW = new RegExp(String.raw`^\| \*\*(${ID})\*\* \|.*\| ([^|]*) \|$`, 'gm')

/** Definitions of the page: id to the cell of its tests. */
export const definitionsOf = (page: string): [id: string, tests: string][] =>
  [...page.matchAll(ROW)].map(([, id = '', tests = '']) => [id, tests])

/** Cell of the tests of an id. */
const cellOf = (files: Set<string> | undefined) =>
  files
    ? [...files]
        .sort()
        .map((file) => `\`${file}\``)
        .join(', ')
    : 'none'

/** Page with the cells of all tests as the titles have them. */
export const withTests = (page: string, tests: TestsById): string =>
  page.replace(
    ROW,
    (row: string, id: string, cell: string) =>
      `${row.slice(0, -cell.length - 2)}${cellOf(tests.get(id))} |`,
  )

/** Differences between the page and the titles, as lines to print. */
export function differences(page: string, tests: TestsById): string[] {
  const definitions = definitionsOf(page)
  const known = definitions.map(([id]) => id)
  return [
    ...[...tests]
      .filter(([id]) => !known.includes(id))
      .map(([id, files]) => `${id} is not defined: ${[...files].join(', ')}`),
    ...known.filter((id, i) => known.indexOf(id) < i).map((id) => `${id} is defined twice`),
    ...definitions
      .filter(([id, cell]) => cell !== cellOf(tests.get(id)))
      .map(([id, cell]) => `${id} names ${cell}, its tests are ${cellOf(tests.get(id))}`),
  ]
}
