import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { percentile } from './load.mjs'

const BLOCK = Buffer.alloc(8_192, 1)
const WRITES = 200

/** Measures the median of a durable 8 KiB write in ms: the lower bound of a commit. */
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
