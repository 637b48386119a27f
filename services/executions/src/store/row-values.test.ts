import { compile } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { type Column, rowsOf } from './row-values.ts'

type Row = [id: string, count: number | undefined]

const columns: Column<Row>[] = [
  ['id', 'uuid', ([id]) => id],
  ['count', 'int', ([, count]) => count],
]

test('few rows: a list of values, each value a parameter', () => {
  expect(compile(rowsOf('c', columns, [['a', 1]]))).toEqual({
    text: '(values ($1::uuid, $2::int)) as c(id, count)',
    values: ['a', 1],
  })
  expect(
    compile(
      rowsOf('c', columns, [
        ['a', 1],
        ['b', undefined],
      ]),
    ),
  ).toEqual({
    text: '(values ($1::uuid, $2::int), ($3::uuid, $4::int)) as c(id, count)',
    values: ['a', 1, 'b', null],
  })
})

test('many rows: one array for each column, for any number of rows', () => {
  const rows = Array.from({ length: 5 }, (_, i): Row => [`${i}`, i])
  expect(compile(rowsOf('c', columns, rows))).toEqual({
    text: 'unnest($1::uuid[], $2::int[]) as c(id, count)',
    values: [
      ['0', '1', '2', '3', '4'],
      [0, 1, 2, 3, 4],
    ],
  })
})

test('no rows: one empty array for each column, not an empty list of values', () => {
  expect(compile(rowsOf('c', columns, [])).text).toBe(
    'unnest($1::uuid[], $2::int[]) as c(id, count)',
  )
})
