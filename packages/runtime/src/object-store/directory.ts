import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { ObjectStore } from './object-store.ts'

/** Suffix of files that are being written. */
const PARTIAL = '.partial'

/** Stores objects as files below a directory, readable only by the user of the process. */
export function openDirectory(root: string): ObjectStore {
  const fileOf = (name: string) => path.join(root, ...name.split('/'))
  return {
    async put(name, content) {
      const file = fileOf(name)
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      const partial = `${file}.${randomBytes(6).toString('hex')}${PARTIAL}`
      try {
        await writeDurably(partial, content)
        await rename(partial, file)
      } catch (error) {
        await rm(partial, { force: true })
        throw error
      }
      await syncFolder(path.dirname(file))
    },

    get: (name) =>
      readFile(fileOf(name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      }),

    async *list(prefix) {
      const files = await readdir(fileOf(prefix), { recursive: true, withFileTypes: true }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return []
          throw error
        },
      )
      for (const file of files) {
        if (!file.isFile() || file.name.endsWith(PARTIAL)) continue
        yield path.relative(root, path.join(file.parentPath, file.name)).split(path.sep).join('/')
      }
    },

    close() {},
  }
}

async function writeDurably(file: string, content: Buffer): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A name in a folder is durable only after the folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
