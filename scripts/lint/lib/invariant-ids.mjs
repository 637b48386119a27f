import { textsOf } from './texts.mjs'

const ID = String.raw`(?:N\d{3}|[A-Z][1-9]\d?)`
/** Ids in front of a title: `E1: …`, `A1, A2: …`, `K1 to K3: …`, `N091 …`, `V2-event-lost`. */
const LEADING = new RegExp(`^(${ID}(?:(?:, | to | and )${ID})*)(?:[: -]|$)`)
/** Ids behind a title: `… (T1, T2)`. */
const TRAILING = new RegExp(String.raw`\((${ID}(?:(?:, | to | and )${ID})*)\)$`)

/** All ids of `K1 to K3`. */
function expandRange(first, last) {
  const [letter, from] = [first[0], Number(first.slice(1))]
  const width = first.length - 1
  return Array.from(
    { length: Number(last.slice(1)) - from + 1 },
    (_, n) => letter + String(from + n).padStart(width, '0'),
  )
}

/** Ids of a list: `A1, A2`, `K1 to K3`. */
const idsOfList = (list) =>
  list.split(/, | and /).flatMap((part) => {
    const [first, last] = part.split(' to ')
    return last ? expandRange(first, last) : [first]
  })

/**
 * Ids that the title of a test names.
 *
 * @param {string} title
 * @returns {string[]}
 */
export const idsOfTitle = (title) =>
  [LEADING.exec(title)?.[1], TRAILING.exec(title)?.[1]].flatMap((list) =>
    list ? idsOfList(list) : [],
  )

/**
 * Ids that the titles of a test file name, rows of tables included.
 *
 * @param {string} path
 * @param {string} source
 * @returns {string[]}
 */
export const idsOfFile = (path, source) =>
  textsOf(path, source)
    .filter(({ kind }) => kind === 'title')
    .flatMap(({ text }) => idsOfTitle(text.trim()))

/** A definition: a row of a table with a bold id in front and the tests in the last cell. */
const ROW = new RegExp(String.raw`^\| \*\*(${ID})\*\* \|.*\| ([^|]*) \|$`, 'gm')

/**
 * Definitions of the page: id to the cell of its tests.
 *
 * @param {string} page
 * @returns {[string, string][]}
 */
export const definitionsOf = (page) => [...page.matchAll(ROW)].map(([, id, tests]) => [id, tests])

/** Cell of the tests of an id. */
const cellOf = (files) =>
  files
    ? [...files]
        .sort()
        .map((file) => `\`${file}\``)
        .join(', ')
    : 'none'

/**
 * Page with the cells of all tests as the titles have them.
 *
 * @param {string} page
 * @param {Map<string, Set<string>>} tests id to the files whose titles name it
 */
export const withTests = (page, tests) =>
  page.replace(
    ROW,
    (row, id, cell) => `${row.slice(0, -cell.length - 2)}${cellOf(tests.get(id))} |`,
  )

/**
 * Differences between the page and the titles, as lines to print.
 *
 * @param {string} page
 * @param {Map<string, Set<string>>} tests
 * @returns {string[]}
 */
export function differences(page, tests) {
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
