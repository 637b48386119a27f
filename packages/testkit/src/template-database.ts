import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

/**
 * Databases that tests copy instead of running all migrations again: a copy takes about as long as an empty
 * database, the migrations twice to four times as long, and a run of all tests needs many hundreds.
 *
 * A template is named after the content of its migrations, made once for a server, and never changed. The
 * processes of a test run share it: the first makes it under an advisory lock, under another name until it
 * is complete. It ends with the server of the run. What migrations choose at random, such as the salt of an
 * installation, is the same in all copies.
 */
const made = new Map<string, Promise<string>>()

/** Returns the name of the template that `fill` has filled, at the server of `url`. */
export function templateDatabase(
  url: string,
  folders: readonly URL[],
  fill: (database: string) => Promise<unknown>,
): Promise<string> {
  const key = [url, ...folders].join(' ')
  const known = made.get(key) ?? findOrMake(url, folders, fill)
  made.set(key, known)
  known.catch(() => made.delete(key))
  return known
}

async function findOrMake(
  url: string,
  folders: readonly URL[],
  fill: (database: string) => Promise<unknown>,
): Promise<string> {
  const name = `template_${await hashOf(folders)}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount !== 0) return name
    const unfinished = `${name}_unfinished`
    await client.query(`drop database if exists ${unfinished} with (force)`)
    await client.query(`create database ${unfinished}`)
    await fill(Object.assign(new URL(url), { pathname: unfinished }).href)
    await client.query(`alter database ${unfinished} rename to ${name}`)
    return name
  } finally {
    await client.end()
  }
}

async function hashOf(folders: readonly URL[]): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of folders)
    for (const file of (await readdir(folder)).sort())
      hash
        .update(`${folder.pathname.split('/').at(-3)} ${file}\n`)
        .update(await readFile(new URL(file, folder)))
  return hash.digest('hex').slice(0, 16)
}
