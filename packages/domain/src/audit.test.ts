import { expect, test } from 'vitest'
import {
  AuditChainVerifier,
  type ChainedEntry,
  detailOf,
  GENESIS,
  hashEntry,
  objects,
} from './audit.ts'
import type { HashedEntry } from './audit-chain.ts'

const recorded = (seq: number, changes: Partial<HashedEntry> = {}): HashedEntry => ({
  seq,
  at: '2026-01-02T03:04:05.678Z',
  subject: 'ann',
  issuer: 'svc',
  key_prefix: '',
  request_id: `r-${seq}`,
  action: 'role.create',
  object: 'role:x',
  outcome: 'done',
  detail_json: '{}',
  ...changes,
})

/** A chain of this many entries. */
function chain(length: number): ChainedEntry[] {
  const entries: ChainedEntry[] = []
  for (let seq = 1; seq <= length; seq++) {
    const previous_hash = entries.at(-1)?.hash ?? GENESIS
    const entry = recorded(seq)
    entries.push({ ...entry, previous_hash, hash: hashEntry(previous_hash, entry) })
  }
  return entries
}

const headOf = (entries: ChainedEntry[]) => {
  const { seq, hash } = entries.at(-1) ?? { seq: 0, hash: GENESIS }
  return { seq, hash }
}

function problemsOf(
  entries: ChainedEntry[],
  claimed: ReturnType<typeof headOf>,
  remembered = claimed,
) {
  const check = new AuditChainVerifier(remembered)
  for (const entry of entries) check.verifyNext(entry)
  check.verifyEnd(claimed)
  return check.problems
}

test('an unchanged chain: no problems', () => {
  for (const length of [0, 1, 5])
    expect(problemsOf(chain(length), headOf(chain(length)))).toEqual([])
})

test('the hash of an entry: that of the documented form', () => {
  // printf '%s' "$json" | sha256sum, with 32 zero bytes before the text
  expect(
    hashEntry(GENESIS, recorded(1, { subject: 'żółć', detail_json: '{"a":"\\""}' })).toString(
      'hex',
    ),
  ).toBe('d8fe65a86fbe1d702a9e5891317b16c8d21afbbdec2ff4d0854e7c54b848ae42')
})

test.each(Object.keys(recorded(1)).filter((field) => field !== 'seq'))(
  'a changed %s: found and named',
  (field) => {
    const entries = chain(5)
    const head = headOf(entries)
    entries[2] = { ...(entries[2] as ChainedEntry), [field]: 'else' }
    expect(problemsOf(entries, head)).toEqual(['entry 3 was changed'])
  },
)

test('an entry changed with its hash recomputed: the next entry does not continue it', () => {
  const entries = chain(5)
  const head = headOf(entries)
  const third = { ...(entries[2] as ChainedEntry), subject: 'eve' }
  entries[2] = { ...third, hash: hashEntry(third.previous_hash, third) }
  expect(problemsOf(entries, head)).toEqual([
    'entry 4 does not continue entry 3: one of them was changed',
  ])
})

test('a whole chain recomputed: differs from the noted head', () => {
  const entries = chain(5)
  const remembered = { seq: 3, hash: (entries[2] as ChainedEntry).hash }
  const other: ChainedEntry[] = []
  for (const entry of entries) {
    const previous_hash = other.at(-1)?.hash ?? GENESIS
    const changed = { ...entry, subject: 'eve' }
    other.push({ ...changed, previous_hash, hash: hashEntry(previous_hash, changed) })
  }
  expect(problemsOf(other, headOf(other))).toEqual([])
  expect(problemsOf(other, headOf(other), remembered)).toEqual([
    'entry 3 is not the one that was remembered',
  ])
})

test('entries missing at the beginning, in the middle or at the end: each is reported', () => {
  const entries = chain(6)
  const head = headOf(entries)
  expect(problemsOf(entries.slice(1), head)).toContain('entry 1 is missing')
  expect(problemsOf(entries.toSpliced(2, 1), head)).toEqual(['entry 3 is missing'])
  expect(problemsOf(entries.toSpliced(2, 2), head)).toEqual(['entries 3 to 4 are missing'])
  expect(problemsOf(entries.slice(0, 4), head)).toEqual(['entries 5 to 6 are missing'])
  const shortened = entries.slice(0, 4)
  expect(problemsOf(shortened, headOf(shortened), head)).toEqual(['entries 5 to 6 are missing'])
  expect(problemsOf(shortened, headOf(shortened))).toEqual([])
})

test('entries that were swapped: reported', () => {
  const entries = chain(5)
  const [second, third] = [entries[1] as ChainedEntry, entries[2] as ChainedEntry]
  const swapped = entries.with(1, { ...third, seq: 2 }).with(2, { ...second, seq: 3 })
  expect(problemsOf(swapped, headOf(entries))).toEqual([
    'entry 2 does not continue entry 1: one of them was changed',
    'entry 2 was changed',
    'entry 3 does not continue entry 2: one of them was changed',
    'entry 3 was changed',
    'entry 4 does not continue entry 3: one of them was changed',
  ])
})

test('the object of an entry: its kind and name, or its kind alone if the name is unknown', () => {
  expect(objects.principal('ann', 'https://idp/')).toBe('principal:https://idp//ann')
  expect(objects.key(objects.principal('robot'), 'ci')).toBe('key:svc/robot/ci')
  expect(objects.workflow('team', 'report')).toBe('workflow:team/report')
  expect(objects.role()).toBe('role')
  expect(objects.principal()).toBe('principal')
})

test('a detail that is too long: replaced by its length and hash', () => {
  expect(detailOf()).toBe('{}')
  expect(detailOf({ a: 1 })).toBe('{"a":1}')
  expect(JSON.parse(detailOf({ a: 'x'.repeat(20_000) }))).toEqual({
    omitted_chars: 20_008,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})
