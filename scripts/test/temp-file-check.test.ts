import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { leftoverCounts, temporaryEnv } from '../testing/temp-file-check.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-leftovers-'))
  return () => rmSync(dir, { recursive: true })
})

it('only caches left: counts nothing', () => {
  const { TMPDIR } = temporaryEnv(dir)
  writeFileSync(path.join(TMPDIR, 'tsx-0'), '')
  expect(leftoverCounts({ TMPDIR })).toEqual({ passed: 0, failed: 0, skipped: 0 })
})

it('only the lock files of testcontainers left: counts nothing', () => {
  const { TMPDIR } = temporaryEnv(dir)
  for (const name of ['testcontainers-node-0.lock', 'testcontainers-node-sshd.lock'])
    writeFileSync(path.join(TMPDIR, name), '')
  expect(leftoverCounts({ TMPDIR })).toEqual({ passed: 0, failed: 0, skipped: 0 })
})

it('a file left: counts one failure and names it', () => {
  const { TMPDIR } = temporaryEnv(dir)
  writeFileSync(path.join(TMPDIR, 'windlass-home-x'), '')
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  expect(leftoverCounts({ TMPDIR })).toEqual({ passed: 0, failed: 1, skipped: 0 })
  expect(write.mock.calls.flat().join('')).toContain('windlass-home-x')
})
