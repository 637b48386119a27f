import { expect, it } from 'vitest'
import { requireNode } from '../bootstrap/require-node.mjs'
import { pauseAfter } from '../system/keep-alive.ts'

it('a child that ends repeatedly: delays grow up to 15 s', () => {
  const pauses = [1, 2, 3, 6, 7, 8, 10].map(pauseAfter)
  expect(pauses).toEqual([250, 500, 1_000, 8_000, 15_000, 15_000, 15_000])
})

it.each(['18.20.0', '20.18.3'])('Node %s: refused', (version) => {
  expect(() => requireNode(version)).toThrow(`this is ${version}`)
})

it.each(['20.19.0', '22.0.0', '24.1.0'])('Node %s: accepted', (version) => {
  expect(() => requireNode(version)).not.toThrow()
})
