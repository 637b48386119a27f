import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lock } from './lock-file.ts'
import { findServer, publishServer, withdrawServer } from './server-file.ts'

const URL = 'http://127.0.0.1:8123'

function temporaryDir() {
  const dir = mkdtempSync(path.join(tmpdir(), 'windlass-server-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

test('a running system: its URL is found until it is withdrawn', () => {
  const dir = temporaryDir()
  const unlock = lock(dir)
  expect(findServer(dir)).toBeUndefined()
  publishServer(dir, URL)
  expect(findServer(dir)).toBe(URL)
  withdrawServer(dir)
  expect(findServer(dir)).toBeUndefined()
  expect(existsSync(path.join(dir, 'server.json'))).toBe(false)
  unlock()
})

test('a URL left by a killed system: not found, and removed by the next start', () => {
  const dir = temporaryDir()
  publishServer(dir, URL)
  expect(findServer(dir)).toBeUndefined()
  const unlock = lock(dir)
  withdrawServer(dir)
  expect(findServer(dir)).toBeUndefined()
  unlock()
})
