// The second half of `npm run build`: bundles each program into one file of the compiler's output. A process
// then starts in half the time that resolving and reading hundreds of modules takes. Then builds the web console.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { Stamp } from './bootstrap/stamp.mjs'
import { buildConsole } from './console/console-files.ts'
import { PROGRAMS } from './setup/bundled-programs.ts'

const SOURCES = ['pnpm-lock.yaml', 'scripts/bundle.ts', 'scripts/setup/bundled-programs.ts']

/** Globals that CommonJS modules expect. */
const COMMON_JS = `
import { createRequire as createRequireOfBundle } from 'node:module'
import { fileURLToPath as pathInBundle } from 'node:url'
const require = createRequireOfBundle(import.meta.url)
const folderOfModule = (folder) => pathInBundle(new URL(folder, import.meta.url))
`

// Bundles only what changed: the compiler's build info contains the hashes of all sources.
const changed = Object.entries(PROGRAMS)
  .map(([folder, programs]) => ({ folder, programs, stamp: stampOf(folder) }))
  .filter(({ stamp }) => !stamp.matches())
if (changed.length > 0)
  await bundle(changed.flatMap(({ folder, programs }) => entriesOf(folder, programs)))
for (const { stamp } of changed) stamp.set()
buildConsole()

function stampOf(program: string): Stamp {
  const packages = ['runtime', 'domain', 'rpc', 'python-analysis', 'api-client'].map(
    (name) => `packages/${name}`,
  )
  const notes = [program, ...packages, 'proto']
  return new Stamp(inProject(`${program}/dist/.bundled`), {
    files: [
      ...notes.map((folder) => inProject(`${folder}/dist/.tsbuildinfo`)),
      ...SOURCES.map(inProject),
    ],
  })
}

/** All programs are in one folder, so each finds the files that it loads by relative path. */
interface Entry {
  in: string
  out: string
}

function entriesOf(folder: string, programs: readonly string[]): Entry[] {
  return programs.map((program) => ({
    in: inProject(`${folder}/src/${program}.ts`),
    out: `${folder}/dist/${path.basename(program)}`,
  }))
}

function bundle(entryPoints: Entry[]) {
  return build({
    entryPoints,
    outdir: PROJECT,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    conditions: ['windlass'],
    sourcemap: true,
    sourcesContent: false,
    banner: { js: COMMON_JS },
    plugins: [keepFolders()],
    logLevel: 'error',
  })
}

/** Replaces the folder of dependencies that read files next to their own module. */
function keepFolders(): Plugin {
  const dist = inProject('services/any/dist')
  return {
    name: 'keep-folders',
    setup({ onLoad }) {
      onLoad({ filter: /node_modules.*\.c?js$/ }, ({ path: file }) => {
        const text = readFileSync(file, 'utf8')
        if (!text.includes('__dirname')) return undefined
        const folder = JSON.stringify(path.relative(dist, path.dirname(file)))
        return { contents: `var __dirname = folderOfModule(${folder});\n${text}`, loader: 'js' }
      })
    },
  }
}

function inProject(name: string): string {
  return path.join(PROJECT, name)
}
