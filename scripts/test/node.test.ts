import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { projectDataDir } from '../bootstrap/data-dir.mjs'
import { ensureNode, ensureServiceNode } from '../setup/node.ts'

const VERSION = '0.0.1' // none of Node
const HOME = path.join(projectDataDir(), `tools/node-${VERSION}`)
const notes: string[] = []
const progress = {
  note: (text: string) => void notes.push(text),
  step: <T>(_title: string, work: (report: () => void) => Promise<T>) => work(() => {}),
}
let bin: string

beforeEach(() => {
  mkdirSync(path.dirname(HOME), { recursive: true })
  bin = mkdtempSync(path.join(os.tmpdir(), 'windlass-test-npm-'))
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
  notes.length = 0
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(bin, { recursive: true, force: true })
  rmSync(HOME, { recursive: true, force: true })
})

/** A program in the place of npm. */
function npm(script: string): void {
  const file = path.join(bin, 'npm')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
}

/** Installs what npm would install, with a hash of another package. */
const OTHER_PACKAGE = `
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/node-test/bin"
touch "$2/node_modules/node-test/bin/node"
printf '{"packages":{"node_modules/node-test":{"integrity":"sha512-other"}}}' > "$2/node_modules/.package-lock.json"`

it.each(['22.0.0', '24.21.0'])('Node %s: runs the services itself', async (current) => {
  npm('exit 1')
  expect(await ensureServiceNode(progress, { current })).toBe(process.execPath)
  expect(notes).toEqual([])
})

it('Node 20 on a system without a package: runs the services itself, with a note', async () => {
  npm('exit 1')
  const options = { current: '20.20.2', name: 'node-plan9-x64' }
  expect(await ensureServiceNode(progress, options)).toBe(process.execPath)
  expect(notes).toEqual(['Node 20.20.2 gets no more security fixes: install Node 22 or 24.'])
})

it('the package cannot be fetched: refused with the output of npm', async () => {
  npm('echo no network >&2; exit 1')
  await expect(ensureNode(progress, VERSION, { name: 'node-test' })).rejects.toThrow('no network')
})

it('the package has another hash: refused and removed', async () => {
  npm(OTHER_PACKAGE)
  const fetching = ensureNode(progress, VERSION, { name: 'node-test', integrity: 'sha512-right' })
  await expect(fetching).rejects.toThrow('has the hash sha512-other instead of sha512-right')
  expect(readdirSync(path.dirname(HOME)).filter((one) => one.includes(VERSION))).toEqual([])
})

it('the package has the expected hash: returns its program, the next time without npm', async () => {
  npm(OTHER_PACKAGE)
  const options = { name: 'node-test', integrity: 'sha512-other' }
  const node = path.join(HOME, 'node_modules/node-test/bin/node')
  expect(await ensureNode(progress, VERSION, options)).toBe(node)
  npm('exit 1')
  expect(await ensureNode(progress, VERSION, options)).toBe(node)
})

it.each(['latest', '24 ', '../24'])('%j for a version: refused', async (version) => {
  await expect(ensureNode(progress, version)).rejects.toThrow('is not a version of Node')
})
