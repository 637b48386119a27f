import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const SECRET_BYTES = 32

/**
 * Reads a secret from a file of the home directory; creates the file, readable only by its owner, at the
 * first use. If several replicas create it at the same time, one succeeds and all of them return its
 * secret.
 */
export async function readOrCreateSecret(home: string, name: string): Promise<string> {
  const path = join(home, name)
  const secret = (await readSecret(path)) ?? (await createSecret(path))
  if (secret === undefined) throw new Error(`${path} is empty`)
  return secret
}

async function readSecret(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes to a temporary file and links it, so that a reader never sees a partial secret. */
async function createSecret(path: string): Promise<string | undefined> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  try {
    await write(draft, `${randomBytes(SECRET_BYTES).toString('hex')}\n`)
    await publish(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  return await readSecret(path)
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

/** A link, unlike a rename, fails if another replica was first. An existing blank file is replaced. */
async function publish(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if ((await readSecret(path)) === undefined) await rename(draft, path)
  }
}
