import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createAuthority } from '@windlass/testkit/certificates'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'

const BIN = fileURLToPath(new URL('../bin/windlass.mjs', import.meta.url))

/** A server whose certificate an authority of this test has signed, and the command line in front of it. */
async function privateServer(validMs?: number) {
  const authority = await createAuthority()
  const { cert, key } = await authority.issue('localhost', validMs)
  const server = createServer({ cert, key }, (_, res) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const list = async (argv: string[], more: Record<string, string> = {}) => {
    const env = { ...process.env, SVC_CONFIG: '/dev/null', SVC_WORKERS__SERVER_URL: url, ...more }
    const child = spawn(process.execPath, [BIN, 'workflow', 'list', '--json', ...argv], { env })
    const exited = once(child, 'exit')
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { status: (await exited)[0], out, err }
  }
  return { ...authority, url, list }
}

const ACCEPTED = { status: 0, out: '[]\n', err: '' }

test('a server with a certificate of a private authority: accepted with --ca-file or WINDLASS_CA_FILE', async () => {
  const { caFile, url, list } = await privateServer()
  expect(await list([])).toEqual({
    status: 1,
    out: '',
    err: `windlass: ${url} has a certificate of an authority that is not trusted; name the file of the authority with --ca-file\n`,
  })
  expect(await list(['--ca-file', caFile])).toEqual(ACCEPTED)
  expect(await list([], { WINDLASS_CA_FILE: caFile })).toEqual(ACCEPTED)
  const other = (await createAuthority()).caFile
  expect(await list(['--ca-file', caFile], { WINDLASS_CA_FILE: other })).toEqual(ACCEPTED)
  expect(await list(['--ca-file', other])).toMatchObject({ status: 1, out: '' })
})

test('an expired certificate of a trusted authority: refused, with the reason', async () => {
  const { caFile, list } = await privateServer(-1_000)
  const { status, err } = await list(['--ca-file', caFile])
  expect(status).toBe(1)
  expect(err).toMatch(/is not accepted: certificate has expired\n$/)
})

test('a file that holds no certificate: one sentence that names it', async () => {
  const { list } = await privateServer()
  const folder = temporaryFolder('ca-files')
  const empty = join(folder, 'empty.pem')
  const broken = join(folder, 'broken.pem')
  await writeFile(empty, 'nothing')
  await writeFile(broken, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  for (const [file, reason] of [
    [empty, `${empty} has no certificate; name the certificate of the authority as PEM`],
    [broken, `${broken} has an invalid certificate: `],
    [join(folder, 'none.pem'), `cannot read ${folder}/none.pem: ENOENT`],
  ] as const) {
    const { status, err } = await list(['--ca-file', file])
    expect(status).toBe(1)
    expect(err.startsWith(`windlass: ${reason}`), err).toBe(true)
    expect(err.trimEnd()).not.toContain('\n')
  }
})
