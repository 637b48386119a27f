import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'

const BLOCK_BYTES = 1 << 20
const LEAST_BYTES = 512

/** A file system in memory that a test can fill. */
export interface SmallDisk {
  fill(): void
  /** Frees what `fill` took. */
  free(): void
  unmount(): void
}

/** Mounts a file system of `megabytes` over an empty folder; the caller unmounts it. */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'windlass-test', folder])
  const file = join(folder, 'filler')
  return {
    fill() {
      const filler = openSync(file, 'w')
      for (let size = BLOCK_BYTES; size >= LEAST_BYTES; ) if (!isWritten(filler, size)) size /= 2
      closeSync(filler)
    },
    free: () => rmSync(file),
    // Lazy: a server that is about to be killed may still have files open.
    unmount: () => void execFileSync('umount', ['--lazy', folder]),
  }
}

/** The reason why no file system can be mounted; undefined if one can. */
export function mountObstacle(): string | undefined {
  const ended: (() => unknown)[] = []
  const folder = temporaryFolder('mount', (end) => ended.push(end))
  const how = ['-t', 'tmpfs', '-o', 'size=1m', 'windlass-test', folder]
  const { status, stderr, error } = spawnSync('mount', how, { encoding: 'utf8' })
  if (status === 0) spawnSync('umount', [folder])
  for (const end of ended) end()
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

function isWritten(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) === bytes
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    return false
  }
}
