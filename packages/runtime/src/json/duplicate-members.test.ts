import { expect, test } from 'vitest'
import { findDuplicateMember } from './duplicate-members.ts'

test.each<[text: string, place: (string | number)[] | undefined]>([
  ['{"a":1,"a":2}', ['a']],
  ['{"a":1,"\\u0061":2}', ['a']],
  ['{"a":1,"b":{"c":1,"d":[0,{"e":1},{"e":1,"f":2,"e":3}]}}', ['b', 'd', 2, 'e']],
  [' [ {"a":{}} , {"a":[]} , [ {"x":"}","x":0} ] ] ', [2, 0, 'x']],
  ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ['{"":1,"":2}', ['']],
  ['{"a":"a","b":["a","a"],"c":{"a":1},"d":{"a":1}}', undefined],
  ['{"a":"\\"a\\":1,","b":1}', undefined],
  ['{}', undefined],
  ['"a"', undefined],
  ['[1,[],{}]', undefined],
])('%j: %j', (text, place) => expect(findDuplicateMember(text)).toEqual(place))

test('payload members: may repeat names inside, but appear once themselves', () => {
  const twice = '{"x":{"y":1,"y":2}}'
  expect(findDuplicateMember(`{"input":${twice},"a":1}`, ['input'])).toBeUndefined()
  expect(findDuplicateMember(`{"config":${twice}}`, ['input'])).toEqual(['config', 'x', 'y'])
  expect(findDuplicateMember(`{"a":{"input":${twice}}}`, ['input'])).toEqual([
    'a',
    'input',
    'x',
    'y',
  ])
  expect(findDuplicateMember('{"input":1,"input":2}', ['input'])).toEqual(['input'])
})

test('random objects: a repeated member is found exactly where JSON.parse loses one', () => {
  let seed = 11
  const next = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % n
  }
  let members = 0
  const value = (depth: number): string => {
    const parts = Array.from({ length: next(4) }, () => (depth > 3 ? '1' : value(depth + 1)))
    if (next(3) === 0) return `[${parts.join(',')}]`
    members += parts.length
    return `{${parts.map((part) => `"${'abcdefgh'[next(8)]}":${part}`).join(',')}}`
  }
  const kept = (given: unknown): number => {
    if (typeof given !== 'object' || given === null) return 0
    const parts = Object.values(given)
    const own = Array.isArray(given) ? 0 : parts.length
    return parts.reduce((sum: number, part) => sum + kept(part), own)
  }
  const seen = { true: 0, false: 0 }
  for (let round = 0; round < 5_000; round++) {
    members = 0
    const text = value(0)
    const isRepeated = kept(JSON.parse(text)) < members
    expect(findDuplicateMember(text) !== undefined, text).toBe(isRepeated)
    seen[`${isRepeated}`]++
  }
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(100)
})
