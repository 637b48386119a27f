import { expect, test } from 'vitest'
import { SharedAnswers } from './shared-answers.ts'

/** Shared answers with a clock that a test moves; each read answers with its number, and texts have a size. */
function setup(characters = 1) {
  const clock = { ms: 0 }
  const answers = new SharedAnswers(() => clock.ms)
  let reads = 0
  const ask = async () => String(++reads).padEnd(characters)
  const read = async (maxAgeMs: number, key = 'a', principal = 'ann') => {
    const { text, ageMs } = await answers.read({ key, principal, maxAgeMs }, ask)
    return [Number(text), ageMs]
  }
  return { clock, answers, read }
}

test('a caller that accepts the age of the last answer: the answer, with its age; another one: a new read', async () => {
  const { clock, read } = setup()
  expect(await read(3_000)).toEqual([1, 0])
  clock.ms = 3_000
  expect(await read(3_000, 'a', 'bob')).toEqual([1, 3_000])
  expect(await read(3_000, 'b')).toEqual([2, 0])
  expect(await read(2_999)).toEqual([3, 0])
  expect(await read(0)).toEqual([4, 0])
  clock.ms = 4_000
  expect(await read(3_000)).toEqual([3, 1_000])
})

test('a caller that accepts any age: no answer older than ten seconds', async () => {
  const { clock, read } = setup()
  await read(1_000)
  clock.ms = 10_000
  expect(await read(1e9)).toEqual([1, 10_000])
  clock.ms = 10_001
  expect(await read(1e9)).toEqual([2, 0])
})

test('callers that accept no age: their answers are not kept', async () => {
  const { read } = setup()
  await read(0)
  expect(await read(5_000)).toEqual([2, 0])
})

test('more text than is kept: the oldest answer is read again', async () => {
  const { read } = setup(5 * 1_048_576)
  await read(5_000, 'a')
  await read(5_000, 'b')
  expect(await read(5_000, 'b')).toEqual([2, 0])
  expect(await read(5_000, 'a')).toEqual([3, 0])
})

test('a slow read that ends after a later one: the later answer is kept', async () => {
  const { clock, answers, read } = setup()
  let end = (_: string) => {}
  const slow = answers.read(
    { key: 'a', principal: 'bob', maxAgeMs: 1 },
    () => new Promise((resolve) => (end = resolve)),
  )
  clock.ms = 5
  expect(await read(1)).toEqual([1, 0])
  end('0')
  await slow
  expect(await read(1)).toEqual([1, 0])
})

test('a read that fails: nothing is kept', async () => {
  const { answers, read } = setup()
  const request = { key: 'a', principal: 'ann', maxAgeMs: 5_000 }
  await expect(answers.read(request, () => Promise.reject(new Error('away')))).rejects.toThrow(
    'away',
  )
  expect(await read(5_000)).toEqual([1, 0])
})
