import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import {
  anchorsOf,
  headingAnchorsOf,
  isNamedIn,
  namedLinksOf,
  pathsOf,
} from './lib/document-paths.ts'
import { listFiles } from './lib/files.ts'

const HISTORY = /^CHANGELOG\.md$|^docs\/adr\//

/**
 * Checks that the paths that documents name exist: files and folders of the repository between
 * backticks (or of the folder of the document), and targets of relative links with their headings; and that
 * a link which is named after a function leads to a file with that name. The change log and the decision records are left
 * out: they name the files of their time. Returns true if all exist.
 */
export function checkPaths(): boolean {
  const documents = listFiles().filter((file) => file.endsWith('.md') && !HISTORY.test(file))
  const missing = documents.flatMap((file) =>
    pathsOf(file, readFileSync(file, 'utf8'))
      .filter(({ path }) => !existsSync(path) && !existsSync(join(dirname(file), path)))
      .map(({ path, line }) => `${file}:${line}: ${path} does not exist`),
  )
  const moved = documents.flatMap((file) =>
    namedLinksOf(file, readFileSync(file, 'utf8'))
      .filter(({ path, name }) => existsSync(path) && !isNamedIn(readFileSync(path, 'utf8'), name))
      .map(({ path, name }) => `${file}: ${path} has no ${name}`),
  )
  const renamed = documents.flatMap((file) =>
    anchorsOf(file, readFileSync(file, 'utf8'))
      .filter(({ path }) => existsSync(path))
      .filter(({ path, anchor }) => !headingAnchorsOf(readFileSync(path, 'utf8')).has(anchor))
      .map(({ path, anchor }) => `${file}: ${path} has no heading #${anchor}`),
  )
  const problems = [...missing, ...moved, ...renamed]
  for (const line of problems) console.log(line)
  console.log(`paths: ${problems.length} that documents name do not exist`)
  return problems.length === 0
}
