import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bundles, hashOfFolder } from '../setup/bundles.ts'

it('a folder: its hash follows contents and names of the files in it, at any depth', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'windlass-bundles-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'a/b'), { recursive: true })
  const hashes = [
    () => writeFileSync(path.join(folder, 'a/b/x.ts'), '1'),
    () => writeFileSync(path.join(folder, 'a/b/x.ts'), '2'),
    () => writeFileSync(path.join(folder, 'a/y.ts'), ''),
    () => rmSync(path.join(folder, 'a/y.ts')),
  ].map((change) => {
    change()
    return hashOfFolder(folder)
  })
  expect(new Set(hashes).size).toBe(3)
  expect(hashes[3]).toBe(hashes[1])
})

it('programs: each is bundled into a file of its own', () => {
  const outs = bundles().flatMap(({ entries }) => entries.map(({ out }) => out))
  expect(new Set(outs).size).toBe(outs.length)
  expect(outs).toContain('services/gateway/dist/main')
})
