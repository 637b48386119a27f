import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChainedEntry } from '@windlass/domain/audit'
import { type Checkpoint, signingInput, thumbprintInput } from '@windlass/domain/audit-checkpoint'
import { nodeCrypto } from '@windlass/domain/audit-signature'
import { expect, onTestFinished, test } from 'vitest'
import { chain, headOf, viewOf } from './audit-chain.ts'
import { cliFixture } from './cli-fixture.ts'

const AT = '2026-01-02T03:04:05.678Z'
const key = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'01'.repeat(32)}`, 'hex'),
  ...{ format: 'der', type: 'pkcs8' },
})
const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
const kid = nodeCrypto.digest(thumbprintInput(x)) as string

function tokenOf(
  entries: ChainedEntry[],
  seq: number,
  reason: Checkpoint['reason'] = 'interval',
): string {
  const hash = entries[seq - 1]?.hash.toString('hex') ?? ''
  const input = signingInput(kid, { seq, hash, at: AT, entries: seq, reason })
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
}

const listOf = (...tokens: string[]) =>
  JSON.stringify({
    checkpoints: tokens.map((token) => ({ token })),
    keys: [{ kid, x, confirmed: true }],
  })

/** A server with these entries and checkpoints. */
async function setup(entries: ChainedEntry[], ...tokens: string[]) {
  const { api, windlass } = await cliFixture()
  const head = JSON.stringify(headOf(entries))
  for (const after of [0, entries.at(-1)?.seq ?? 0]) {
    const page = entries.filter(({ seq }) => seq > after)
    api.answers.set(`GET /admin/audit?after=${after}&limit=1000`, {
      body: `{"entries":[${page.map(viewOf)}],"head":${head},"checkpoints":${tokens.length}}`,
    })
  }
  api.answers.set('GET /admin/audit/checkpoints?limit=1000&offset=0', { body: listOf(...tokens) })
  return windlass
}

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  await writeFile(path, text)
  return path
}

const linesOf = (entries: ChainedEntry[]) => entries.map((entry) => `${viewOf(entry)}\n`).join('')
const entries = chain(9)
const headText = `9:${headOf(entries).hash}`

test('audit verify of a pruned log: intact with its signed checkpoint', async () => {
  const windlass = await setup(entries.slice(5), tokenOf(entries, 9), tokenOf(entries, 5, 'prune'))
  expect(await windlass('audit', 'verify', '--key', kid)).toEqual({
    status: 0,
    out: `entries 6 to 9, head ${headText}
2 checkpoints, the last of entry 9, signed with key ${kid}
entries 1 to 5 were pruned on ${AT}, with a signed checkpoint
the log is intact
`,
    err: '',
  })
})

test('audit verify of a pruned log: the checkpoint of an interval does not cover the pruned part', async () => {
  const windlass = await setup(entries.slice(5), tokenOf(entries, 5))
  expect(await windlass('audit', 'verify')).toMatchObject({
    status: 3,
    err: 'entries 1 to 5 are missing\n',
  })
})

test('audit verify --key: another key than the noted one is named', async () => {
  const windlass = await setup(entries, tokenOf(entries, 9))
  const { status, err } = await windlass('audit', 'verify', '--key', 'x')
  expect(status).toBe(3)
  expect(err).toContain(`signed with key ${kid}, which is not the noted one`)
})

test('audit verify --checkpoints: finds a log that was cut off, with its checkpoints', async () => {
  const windlass = await setup(entries.slice(0, 4))
  expect(await windlass('audit', 'verify')).toMatchObject({ status: 0 })
  const saved = await fileOf(listOf(tokenOf(entries, 9)))
  expect(await windlass('audit', 'verify', '--checkpoints', saved)).toMatchObject({
    status: 3,
    err: 'entries 5 to 9 are missing\n',
  })
})

test('audit verify --offline: a file and saved checkpoints, without a server', async () => {
  const { windlass } = await cliFixture()
  const verify = async (some: ChainedEntry[], ...tokens: string[]) => {
    const [file, saved] = [await fileOf(linesOf(some)), await fileOf(listOf(...tokens))]
    return windlass('audit', 'verify', file, '--offline', '--checkpoints', saved)
  }
  const signed = [tokenOf(entries, 9), tokenOf(entries, 5, 'prune')]
  expect(await verify(entries, ...signed)).toMatchObject({ status: 0, err: '' })
  expect(await verify(entries.slice(5), ...signed)).toMatchObject({ status: 0, err: '' })
  expect(await verify(entries.slice(0, 7), ...signed)).toMatchObject({
    status: 0,
    out: expect.stringContaining('checkpoints of later entries than 7 were not compared'),
  })
  const changed = entries.with(6, { ...(entries[6] as ChainedEntry), subject: 'eve' })
  expect(await verify(changed, ...signed)).toMatchObject({
    status: 3,
    err: 'entry 7 was changed\n',
  })
})

test('audit verify: wrong use of its options', async () => {
  const { windlass } = await cliFixture()
  expect(await windlass('audit', 'verify', '--offline')).toMatchObject({ status: 2 })
  const text = await fileOf('{}')
  expect(await windlass('audit', 'verify', '--checkpoints', text)).toMatchObject({
    status: 1,
    err: expect.stringContaining('has no checkpoints'),
  })
})

test('audit export of a pruned log: refused, unless it begins after the pruned part', async () => {
  const windlass = await setup(entries.slice(5), tokenOf(entries, 5, 'prune'))
  const file = await fileOf('')
  expect(await windlass('audit', 'export', file)).toMatchObject({
    status: 1,
    err: expect.stringContaining('--after-pruned'),
  })
  expect(await windlass('audit', 'export', file, '--after-pruned')).toEqual({
    ...{ status: 0, out: `${headText}\n`, err: '' },
  })
  expect(await windlass('audit', 'verify', file)).toMatchObject({ status: 0, err: '' })
})
