import { readFile } from 'node:fs/promises'
import type { Settings } from '@windlass/runtime/config/settings'
import { databaseFiles } from '@windlass/runtime/tls/client-certificate'

const FILE_KEY = /^(?:tls_(?:ca|cert|key)|client_ca)$/

/** Returns a sentence for each file of certificates or keys that a setting names and that cannot be read. */
export async function findUnreadableFiles(settings: Settings): Promise<string[]> {
  const problems = await Promise.all(
    listTlsFiles(settings).map(async ([setting, path]) => {
      try {
        await readFile(path)
        return []
      } catch (error) {
        // Without the path, which the message of Node names too.
        const [reason] = (error as Error).message.split(', open ')
        return [`${setting}: cannot read ${path}: ${reason}`]
      }
    }),
  )
  return problems.flat()
}

/** Settings that name files, with their files. */
function listTlsFiles({ server, mcp, rpc, nats, redis, postgres }: Settings): [string, string][] {
  const tables = Object.entries({ server, mcp, rpc, nats, redis })
  const ofTables = tables.flatMap(([table, values]) =>
    Object.entries(values).flatMap(([key, path]): [string, string][] =>
      FILE_KEY.test(key) && typeof path === 'string' ? [[`[svc.${table}].${key}`, path]] : [],
    ),
  )
  const { url, admin_url } = postgres
  const urls = Object.entries({ url, admin_url })
  const ofUrls = urls.flatMap(([key, text]) =>
    Object.entries(databaseFiles(text ?? '')).map(([parameter, path]): [string, string] => [
      `[svc.postgres].${key}, ${parameter}`,
      path,
    ]),
  )
  return [...ofTables, ...ofUrls]
}
