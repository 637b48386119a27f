import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { pathsOf } from './lib/document-paths.ts'
import { listFiles } from './lib/files.ts'

const HISTORY = /^CHANGELOG\.md$|^docs\/adr\//

/**
 * Checks that the paths that documents name exist: files and folders of the repository between
 * backticks (or of the folder of the document), and targets of relative links. The change log and the
 * decision records are left out: they name the files of their time. Returns true if all exist.
 */
export function checkPaths(): boolean {
  const documents = listFiles().filter((file) => file.endsWith('.md') && !HISTORY.test(file))
  const missing = documents.flatMap((file) =>
    pathsOf(file, readFileSync(file, 'utf8'))
      .filter(({ path }) => !existsSync(path) && !existsSync(join(dirname(file), path)))
      .map(({ path, line }) => `${file}:${line}: ${path} does not exist`),
  )
  for (const line of missing) console.log(line)
  console.log(`paths: ${missing.length} that documents name do not exist`)
  return missing.length === 0
}
