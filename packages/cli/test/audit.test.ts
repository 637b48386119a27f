import type { ChainedEntry } from '@windlass/domain/audit'
import { expect, test } from 'vitest'
import { chain, headOf, viewOf } from './audit-chain.ts'
import { cliFixture } from './cli-fixture.ts'

interface Heads {
  first: ReturnType<typeof headOf>
  later: ReturnType<typeof headOf>
}

/**
 * Verifies a log of these entries, which a fake server returns page by page. It has the head `first`
 * with each page of entries and `later` with an empty page.
 */
async function verified(
  entries: ChainedEntry[],
  heads: Heads | Heads['first'] = headOf(entries),
  ...options: string[]
) {
  const { first, later } = 'first' in heads ? heads : { first: heads, later: headOf(entries) }
  const { api, windlass } = await cliFixture()
  for (let from = 0, after: number | undefined = 0; after !== undefined; from += 1_000) {
    const page = entries.slice(from, from + 1_000)
    const head = page.length > 0 ? first : later
    api.answers.set(`GET /admin/audit?after=${after}&limit=1000`, {
      body: `{"entries":[${page.map(viewOf)}],"head":${JSON.stringify(head)}}`,
    })
    after = page.at(-1)?.seq
  }
  return windlass('audit', 'verify', ...options)
}

test.each([0, 1, 3, 1_000, 2_345])('an unchanged log of %i entries: whole', async (n) => {
  const entries = chain(n)
  const { seq, hash } = headOf(entries)
  expect(await verified(entries)).toEqual({
    status: 0,
    out: `${n} entries, head ${seq}:${hash}\nthe log is intact\n`,
    err: '',
  })
})

test('changed and missing entries: named, with exit status 3', async () => {
  const entries = chain(1_500)
  const changed = entries.with(1_199, { ...(entries[1_199] as ChainedEntry), subject: 'eve' })
  expect(await verified(changed.toSpliced(6, 1))).toMatchObject({
    status: 3,
    err: 'entry 7 is missing\nentry 1200 was changed\n',
  })
  expect(await verified(entries.slice(0, 1_400), headOf(entries))).toMatchObject({
    status: 3,
    err: 'entries 1401 to 1500 are missing\n',
  })
})

test('entries appended while the log is read: ignored, and hide no missing one', async () => {
  const entries = chain(8)
  expect(await verified(entries, headOf(entries.slice(0, 6)))).toMatchObject({ status: 0 })
  const gap = entries.toSpliced(5, 1)
  expect(await verified(gap, headOf(entries.slice(0, 6)))).toMatchObject({
    status: 3,
    err: 'entry 6 is missing\n',
  })
})

test.each([8, 1_000, 1_003])(
  'an inserted entry after %i that the head never reaches: found',
  async (n) => {
    const entries = chain(n + 1)
    const head = headOf(entries.slice(0, n))
    expect(await verified(entries, { first: head, later: head })).toMatchObject({
      status: 3,
      err: `entry ${n + 1} is beyond the head of the log\n`,
    })
    expect(await verified(entries, head)).toMatchObject({ status: 0 })
  },
)

test('--head of an earlier run: finds a truncated log and a rebuilt chain', async () => {
  const entries = chain(5)
  const { seq, hash } = headOf(entries)
  const cut = entries.slice(0, 3)
  expect(await verified(cut, headOf(cut))).toMatchObject({ status: 0 })
  expect(await verified(cut, headOf(cut), '--head', `${seq}:${hash}`)).toMatchObject({
    status: 3,
    err: 'entries 4 to 5 are missing\n',
  })
  const other = `3:${'0'.repeat(64)}`
  expect(await verified(entries, headOf(entries), '--head', other)).toMatchObject({
    status: 3,
    err: 'entry 3 is not the one that was remembered\n',
  })
})

test('--head that is not a head: wrong use; a log that cannot be read: failure', async () => {
  expect(await verified([], undefined, '--head', 'x')).toMatchObject({ status: 2 })
  const { windlass } = await cliFixture()
  expect(await windlass('audit', 'verify')).toMatchObject({
    status: 1,
    err: expect.stringContaining('404'),
  })
})

test('audit list: a table of the entries', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /admin/audit?actor=ann&action=role&limit=5', {
    body: `{"entries":[${chain(1).map(viewOf)}]}`,
  })
  const { status, out } = await windlass(
    'audit',
    'list',
    '--actor',
    'ann',
    '--action',
    'role',
    '--limit',
    '5',
  )
  expect(status).toBe(0)
  expect(out).toMatch(/SEQ\s+AT\s+SUBJECT\s+ACTION/)
  expect(out).toMatch(/1\s+2026-01-02T03:04:05.678Z\s+ann\s+role.update\s+role:x\s+done/)
})
