// Collects the files of the image of the services in a folder; `deploy/Dockerfile` runs it after the build:
//   node --import tsx scripts/image-files.ts DIR
// The programs are bundles, so no package is installed in the image: of packages it has only the files that
// bundles read while they run.
import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { PROGRAMS } from './setup/bundled-programs.ts'

/** Files of packages that bundles read: the folder that depends on the package, its name, its files. */
const READ_AT_RUN_TIME: [dependent: string, name: string, ...files: string[]][] = [
  ['services/catalog', 'web-tree-sitter', 'package.json', 'web-tree-sitter.wasm'],
  ['services/catalog', 'tree-sitter-python', 'package.json', 'tree-sitter-python.wasm'],
]
const CLI = ['packages/cli/package.json', 'packages/cli/bin/windlass.mjs']

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node --import tsx scripts/image-files.ts DIR')
const target = path.resolve(folder)
for (const [place, programs] of Object.entries(PROGRAMS)) {
  for (const program of programs) copy(`${place}/dist/${path.basename(program)}.js`)
  if (existsSync(path.join(PROJECT, place, 'migrations'))) copy(`${place}/migrations`)
}
for (const [dependent, name, ...files] of READ_AT_RUN_TIME) copyOfPackage(dependent, name, files)
for (const file of ['LICENSE', 'package.json', 'services/gateway/dist/console', ...CLI]) copy(file)
mkdirSync(path.join(target, 'compile-cache'), { recursive: true })
for (const folder of ['dist/services/all/main.js', 'services/gateway/dist/console']) copy(folder)
for (const name of ['all.mjs', 'compile.mjs', 'entry.mjs', 'health.mjs'])
  copy(`deploy/image/${name}`, name)

function copy(from: string, to = from): void {
  cpSync(path.join(PROJECT, from), path.join(target, to), { recursive: true })
}

/** Copies files to the place where pnpm keeps the package, with the link that leads there. */
function copyOfPackage(dependent: string, name: string, files: string[]): void {
  const link = path.join(dependent, 'node_modules', name)
  const kept = path.relative(PROJECT, realpathSync(path.join(PROJECT, link)))
  for (const file of files) copy(path.join(kept, file))
  const place = path.dirname(path.join(target, link))
  mkdirSync(place, { recursive: true })
  symlinkSync(path.relative(path.dirname(link), kept), path.join(target, link))
}
