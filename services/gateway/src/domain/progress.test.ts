import { expect, test } from 'vitest'
import { inMessages } from './progress.ts'

const item = (length: number) => ({
  task_id: '',
  task_name: '',
  value_json: 'x'.repeat(length),
  time: '',
})

test('progress items of any size: packed in order, the one above the limit is dropped', () => {
  const messages = inMessages([item(1), item(200_000), item(100_000), item(2), item(262_145)])
  expect(messages.map((items) => items.map(({ value_json }) => value_json.length))).toEqual([
    [1, 200_000],
    [100_000, 2],
  ])
  expect(inMessages([])).toEqual([])
})
