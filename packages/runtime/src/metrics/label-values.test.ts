import { expect, test } from 'vitest'
import { LabelValues, OVERFLOW } from './label-values.ts'

test('more values than the limit: the first ones keep a series, all others share one', () => {
  const values = new LabelValues(2)
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map((value) => values.of(value))).toEqual([
    'a',
    'b',
    OVERFLOW,
    'a',
    OVERFLOW,
    'b',
  ])
})
