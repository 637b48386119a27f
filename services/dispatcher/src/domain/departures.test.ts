import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEPARTURE_WINDOW_S, divideCandidates } from './departures.ts'

const departed = (...ages: number[]) => ages.map((age_s, i) => ({ name: `w${i}`, age_s }))

test('one of one worker departed: lost', () => {
  const departures = departed(6)
  expect(divideCandidates(['w0'], { departures, staying: 0 })).toEqual({
    lost: ['w0'],
    together: [],
  })
})

test('two of seven workers at once: departed together; two of eight: lost', () => {
  const departures = departed(6, 7)
  const names = ['w0', 'w1']
  expect(divideCandidates(names, { departures, staying: 5 }).together).toEqual(names)
  expect(divideCandidates(names, { departures, staying: 6 }).lost).toEqual(names)
})

test('two of two workers, one long after the other: both lost', () => {
  const departures = departed(6, 12)
  expect(divideCandidates(['w0', 'w1'], { departures, staying: 0 }).lost).toEqual(['w0', 'w1'])
})

test('a worker that left with another and reconnected: the other departed together with it', () => {
  const departures = departed(6, 7)
  expect(divideCandidates(['w0'], { departures, staying: 0 }).together).toEqual(['w0'])
})

const ages = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 40 })

test('any fleet: the result equals the definition, candidate by candidate', () => {
  fc.assert(
    fc.property(ages, fc.nat({ max: 60 }), (given, staying) => {
      const departures = departed(...given)
      const names = departures.map(({ name }) => name)
      const { lost, together } = divideCandidates(names, { departures, staying })
      expect([...lost, ...together].sort()).toEqual([...names].sort())
      const limit = (given.length + staying) / 4
      for (const { name, age_s } of departures) {
        // A window that contains the candidate begins with some departure, at most its length before.
        const counts = given
          .filter((from) => from <= age_s && age_s <= from + DEPARTURE_WINDOW_S)
          .map((from) => given.filter((it) => it >= from && it <= from + DEPARTURE_WINDOW_S).length)
        const most = Math.max(...counts)
        expect(together.includes(name)).toBe(most >= 2 && most > limit)
      }
    }),
  )
})
