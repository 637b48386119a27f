import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ChainedEntry } from '@windlass/domain/audit'
import { expect, onTestFinished, test } from 'vitest'
import { chain, headOf, viewOf } from './audit-chain.ts'
import { cliFixture } from './cli-fixture.ts'

const LENGTH = 2_345
const entries = chain(LENGTH)
const linesOf = (some: readonly ChainedEntry[]) =>
  some.map((entry) => `${viewOf(entry)}\n`).join('')
const checkpointOf = (some: ChainedEntry[]) => `${headOf(some).seq}:${headOf(some).hash}`

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'windlass-audit-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

/** A server with these entries, which answers a page after any of these numbers. */
async function setup(log: readonly ChainedEntry[], ...starts: number[]) {
  const { api, windlass } = await cliFixture()
  const answer = (after: number) => {
    const page = log.filter(({ seq }) => seq > after).slice(0, 1_000)
    api.answers.set(`GET /admin/audit?after=${after}&limit=1000`, {
      body: `{"entries":[${page.map(viewOf)}],"head":${JSON.stringify(headOf([...log]))}}`,
    })
    return page.at(-1)?.seq
  }
  for (const start of [0, ...starts])
    for (let after: number | undefined = start; after !== undefined; ) after = answer(after)
  return { windlass, dir: await folder() }
}

/** A receiver that refuses the first `refusals` deliveries. */
async function startReceiver(refusals = 0) {
  const received: { body: string; checkpoint: unknown }[] = []
  let left = refusals
  const server = createServer(async (req, res) => {
    const body = await text(req)
    if (left > 0) {
      left--
      res.writeHead(503).end()
      return
    }
    received.push({ body, checkpoint: req.headers['x-svc-audit-checkpoint'] })
    res.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit` }
}

test('export to a file: every entry, readable by its owner only; prints the checkpoint', async () => {
  const { windlass, dir } = await setup(entries)
  const file = join(dir, 'audit.ndjson')
  expect(await windlass('audit', 'export', file)).toEqual({
    status: 0,
    out: `${checkpointOf(entries)}\n`,
    err: '',
  })
  expect(await readFile(file, 'utf8')).toBe(linesOf(entries))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('export to a file with an unfinished line: continues after the last whole one', async () => {
  const { windlass, dir } = await setup(entries, 700)
  const file = join(dir, 'audit.ndjson')
  const unfinished = viewOf(entries[700] as ChainedEntry).slice(0, 50)
  await writeFile(file, linesOf(entries.slice(0, 700)) + unfinished)
  expect((await windlass('audit', 'export', file)).status).toBe(0)
  expect(await readFile(file, 'utf8')).toBe(linesOf(entries))
})

test.each([
  ['text without a line end', 'a note'],
  ['JSON without a line end', '{"name":"x"}'],
  ['lines of text', 'a note\nand another'],
  ['lines of JSON', '{"name":"x"}\n{"name":'],
])('export to a file of %s: refused, the file is left as it is', async (_, content) => {
  const { windlass, dir } = await setup(entries)
  const file = join(dir, 'notes')
  await writeFile(file, content)
  expect(await windlass('audit', 'export', file)).toMatchObject({
    status: 1,
    err: expect.stringContaining('use another file'),
  })
  expect(await readFile(file, 'utf8')).toBe(content)
})

test('exports that end, and one that is refused: no file is left open', async () => {
  const { windlass, dir } = await setup(entries)
  const file = join(dir, 'audit.ndjson')
  await windlass('audit', 'export', file)
  await windlass('audit', 'export', file)
  await writeFile(join(dir, 'notes'), 'a note\n')
  await windlass('audit', 'export', join(dir, 'notes'))
  const open = await readdir('/proc/self/fd')
  const targets = await Promise.all(
    open.map((fd) => readlink(join('/proc/self/fd', fd)).catch(() => '')),
  )
  expect(targets.filter((target) => target.startsWith(dir))).toEqual([])
})

test('entry that was changed after an earlier export: reported, nothing is appended', async () => {
  const changed = entries.with(705, { ...(entries[705] as ChainedEntry), subject: 'eve' })
  const { windlass, dir } = await setup(changed, 700)
  const file = join(dir, 'audit.ndjson')
  await writeFile(file, linesOf(entries.slice(0, 700)))
  expect(await windlass('audit', 'export', file)).toMatchObject({
    status: 3,
    err: 'entry 706 was changed\n',
  })
  expect(await readFile(file, 'utf8')).toBe(linesOf(entries.slice(0, 700)))
})

test('export to a URL that refuses at first: delivered at least once, with its checkpoint', async () => {
  const { windlass, dir } = await setup(entries)
  const { received, url } = await startReceiver(2)
  const checkpoint = join(dir, 'checkpoint')
  const run = () => windlass('audit', 'export', '--url', url, '--checkpoint', checkpoint)
  expect((await run()).status).toBe(0)
  expect(received.map(({ body }) => body).join('')).toBe(linesOf(entries))
  expect(received.at(-1)?.checkpoint).toBe(checkpointOf(entries))
  expect(await readFile(checkpoint, 'utf8')).toBe(`${checkpointOf(entries)}\n`)
  expect(received).toHaveLength(3)
  expect((await run()).status).toBe(0)
  expect(received).toHaveLength(3)
})

test('pruned log: export refuses to begin in the middle; verify continues the exported file', async () => {
  const { windlass, dir } = await setup(entries.slice(1_500), 1_500)
  const file = join(dir, 'audit.ndjson')
  expect(await windlass('audit', 'export', join(dir, 'new'))).toMatchObject({
    status: 1,
    err: expect.stringContaining('the entries before 1501 were pruned'),
  })
  await writeFile(file, linesOf(entries.slice(0, 1_500)))
  expect(await windlass('audit', 'verify', file)).toMatchObject({
    status: 0,
    out: `${LENGTH} entries, head ${checkpointOf(entries)}\nthe log is intact\n`,
  })
  expect(await windlass('audit', 'verify')).toMatchObject({
    status: 3,
    err: 'entries 1 to 1500 are missing\n',
  })
})

test.each([
  ['no destination', []],
  ['two destinations', ['x', '--url', 'http://127.0.0.1:9/']],
  ['no checkpoint file', ['--url', 'http://127.0.0.1:9/']],
  ['another scheme', ['--url', 'file:///x', '--checkpoint', 'y']],
])('export with %s: wrong use', async (_, args) => {
  const { windlass } = await cliFixture()
  expect((await windlass('audit', 'export', ...args)).status).toBe(2)
})

test('credentials of the receiver that cannot be sent: refused without their text', async () => {
  const env = { WINDLASS_AUDIT_AUTHORIZATION: 'Bearer canary\nx' }
  const { api, windlass } = await cliFixture({ env })
  const run = (url: string) => windlass('audit', 'export', '--url', url, '--checkpoint', '/nowhere')
  const withPassword = await run('http://user:canary@127.0.0.1:9/')
  expect(withPassword.status).toBe(2)
  expect(withPassword.err).toContain('set WINDLASS_AUDIT_AUTHORIZATION instead')
  const withBreak = await run('http://127.0.0.1:9/')
  expect(withBreak.status).toBe(1)
  expect(withBreak.err).toContain('has a character that no header can have')
  expect(withPassword.err + withBreak.err).not.toContain('canary')
  expect(api.seen).toEqual([])
})
