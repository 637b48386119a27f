import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@windlass/runtime/log'

const TOKEN_BYTES = 32

/** Answers the bootstrap token, or undefined while there is none and none can be made. */
export type Bootstrap = () => Promise<string | undefined>

/**
 * The configured token (a blank one counts as none), else what `<home>/bootstrap-token` holds. A
 * missing file is made, readable by its owner alone; of replicas that race to make it one wins and
 * all answer what it wrote. The file is read each time, so a rotated token needs no restart.
 */
export function bootstrap(home: string, configured: string | undefined, log: Logger): Bootstrap {
  const fixed = configured?.trim()
  if (fixed) return async () => fixed
  const path = join(home, 'bootstrap-token')
  return async () => {
    try {
      return (await read(path)) ?? (await make(home, path))
    } catch (error) {
      log.error({ err: error, home }, 'no bootstrap token: the home directory cannot be used')
      return undefined
    }
  }
}

async function read(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The whole token appears under its name at once, so nobody ever reads half of it. */
async function make(home: string, path: string): Promise<string | undefined> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  try {
    await write(draft, `${randomBytes(TOKEN_BYTES).toString('hex')}\n`)
    await publish(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  return await read(path)
}

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A link, unlike a rename, fails if another replica was first. A file that is there but blank is replaced. */
async function publish(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if ((await read(path)) === undefined) await rename(draft, path)
  }
}
