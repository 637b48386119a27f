import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { percentile } from './load.mjs'

const BLOCK = Buffer.alloc(8_192, 1)
const WRITES = 200

/** What a durable write of 8 KiB takes here and now, in ms, at the median: the least that a commit takes. */
export function durableWriteMs() {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-disk-'))
  const file = openSync(path.join(dir, 'block'), 'w')
  try {
    const times = Array.from({ length: WRITES }, () => {
      const begun = performance.now()
      writeSync(file, BLOCK, 0, BLOCK.length, 0)
      fdatasyncSync(file)
      return performance.now() - begun
    })
    return Math.round(percentile(times, 50) * 100) / 100
  } finally {
    closeSync(file)
    rmSync(dir, { recursive: true, force: true })
  }
}
