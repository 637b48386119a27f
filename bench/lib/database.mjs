import { createRequire } from 'node:module'

/** The same driver as in the services. */
export const pg = createRequire(new URL('../../packages/runtime/package.json', import.meta.url))(
  'pg',
)

/** Runs statements in order, in one session of the schema; returns the rows of the last one. */
export async function query(url, ...statements) {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=executions' })
  await client.connect()
  try {
    let last = []
    for (const statement of statements) last = (await client.query(statement)).rows
    return last
  } finally {
    await client.end()
  }
}
