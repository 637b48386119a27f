import { expect, test } from 'vitest'
import { binsOf, callsWithin, dragged, moved, scaled, zoomByKey, zoomOf, zoomText } from './zoom.ts'

const SPAN = { from: 1_000, to: 11_000 }

test('a part in the address: read back as it was written', () => {
  const zoom = zoomOf('2000-4500', SPAN)
  expect(zoom).toEqual({ from: 3_000, to: 5_500 })
  expect(zoom && zoomText(zoom, SPAN)).toBe('2000-4500')
  expect(zoomText(SPAN, SPAN)).toBeUndefined()
})

test.each([null, '', '5-5', '9-3', '1-', 'a-b', '-1-5', '10000-20000', '1.5-3', '<script>'])(
  'an address with %j: the whole time',
  (text) => {
    expect(zoomOf(text, SPAN)).toBeUndefined()
  },
)

test('a part that ends behind the end: as far as there is time', () => {
  expect(zoomOf('9000-99999', SPAN)).toEqual({ from: 10_000, to: 11_000 })
})

test('zoom and moves: within the span, never shorter than a millisecond', () => {
  const zoom = { from: 5_000, to: 7_000 }
  expect(scaled(zoom, SPAN, 1 / 2)).toEqual({ from: 5_500, to: 6_500 })
  expect(scaled(zoom, SPAN, 100)).toEqual(SPAN)
  expect(scaled({ from: 5_000, to: 5_001 }, SPAN, 1 / 2)).toEqual({ from: 5_000, to: 5_001 })
  expect(moved(zoom, SPAN, 1)).toEqual({ from: 7_000, to: 9_000 })
  expect(moved(zoom, SPAN, 100)).toEqual({ from: 9_000, to: 11_000 })
  expect(moved(zoom, SPAN, -100)).toEqual({ from: 1_000, to: 3_000 })
})

test('a drag: the part between its ends in either direction; a click moves the part', () => {
  expect(dragged(SPAN, SPAN, 0.5, 0.25)).toEqual({ from: 3_500, to: 6_000 })
  expect(dragged({ from: 1_000, to: 3_000 }, SPAN, 0.5, 0.5)).toEqual({ from: 5_000, to: 7_000 })
})

test.each([
  ['+', { from: 5_500, to: 6_500 }],
  ['-', { from: 4_000, to: 8_000 }],
  ['ArrowRight', { from: 5_500, to: 7_500 }],
  ['ArrowLeft', { from: 4_500, to: 6_500 }],
  ['Home', { from: 1_000, to: 3_000 }],
  ['End', { from: 9_000, to: 11_000 }],
  ['0', null],
  ['a', undefined],
])('the key %s: %j', (key, zoom) => {
  expect(zoomByKey(key, { from: 5_000, to: 7_000 }, SPAN)).toEqual(zoom)
})

const call = (from: number, to: number | undefined, state = 'completed') => ({ from, to, state })

test('calls of a part: those that run at some time of it, also those without an end', () => {
  const calls = [call(1_000, 2_000), call(1_500, 4_000), call(2_500, undefined), call(9_000, 9_500)]
  expect(callsWithin(calls, { from: 3_000, to: 5_000 })).toEqual([calls[1], calls[2]])
  expect(callsWithin(calls, undefined)).toBe(calls)
})

test('the strip: calls that run in each part of the time, and the part in which one failed', () => {
  const calls = [call(1_000, 2_500), call(2_000, 8_500, 'failed'), call(9_500, undefined)]
  const bins = binsOf(calls, SPAN, 10)
  expect(bins.map(({ active }) => active)).toEqual([1, 2, 1, 1, 1, 1, 1, 1, 1, 1])
  expect(bins.map(({ failed }) => failed)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 0, 0])
})

test('the strip of calls one after another: one at a time, also where one begins when another one ends', () => {
  const calls = [
    ...[call(1_000, 2_500), call(2_500, 2_500), call(2_500, 2_500), call(2_500, 4_600)],
    call(4_600, 11_000),
  ]
  const active = (all: Parameters<typeof binsOf>[0]) =>
    binsOf(all, SPAN, 10).map((bin) => bin.active)
  expect(active(calls)).toEqual(Array(10).fill(1))
  expect(active([...calls, call(3_100, 3_101)])).toEqual([1, 1, 2, 1, 1, 1, 1, 1, 1, 1])
})

test('the strip of an execution without a length or of a clock that went back: no bin is lost', () => {
  const bins = binsOf([call(1_000, 1_000), call(900, 800)], { from: 1_000, to: 1_000 }, 4)
  expect(bins.map(({ active }) => active)).toEqual([1, 0, 0, 0])
})
