import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { leftoverCounts, temporaryEnv } from '../lib/leftovers.mjs'

let dir
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-leftovers-'))
  return () => rmSync(dir, { recursive: true })
})

it('counts nothing where nothing is left but caches', () => {
  const { TMPDIR } = temporaryEnv(dir)
  writeFileSync(path.join(TMPDIR, 'tsx-0'), '')
  expect(leftoverCounts({ TMPDIR })).toEqual({ passed: 0, failed: 0, skipped: 0 })
})

it('counts what is left as a failure, and names it', () => {
  const { TMPDIR } = temporaryEnv(dir)
  writeFileSync(path.join(TMPDIR, 'windlass-home-x'), '')
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  expect(leftoverCounts({ TMPDIR })).toEqual({ passed: 0, failed: 1, skipped: 0 })
  expect(write.mock.calls.flat().join('')).toContain('windlass-home-x')
})
