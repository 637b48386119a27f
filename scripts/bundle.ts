// The second half of `npm run build`: bundles each program into one file of the compiler's output. A process
// then starts in half the time that resolving and reading hundreds of modules takes. Then builds the web console.
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { Stamp } from './bootstrap/stamp.mjs'
import { buildConsole } from './console/console-files.ts'
import { PROGRAMS } from './setup/bundled-programs.ts'
import { COMPILE_CACHE } from './setup/compile-cache.ts'

const SOURCES = ['pnpm-lock.yaml', 'scripts/bundle.ts', 'scripts/setup/bundled-programs.ts']

/** The program of all services in one process, and its file. */
const ALL = { in: 'scripts/programs/single-process', out: 'dist/services/all/main' }

/** Globals that CommonJS modules expect. */
const COMMON_JS = `
import { createRequire as createRequireOfBundle } from 'node:module'
import { fileURLToPath as pathInBundle } from 'node:url'
const require = createRequireOfBundle(import.meta.url)
const folderOfModule = (folder) => pathInBundle(new URL(folder, import.meta.url))
const programOfService = (folder) => new URL('../../../' + folder + '/dist/main.js', import.meta.url)
`

/** A set of programs that is bundled again if one of its inputs has changed. */
interface Bundle {
  entries: Entry[]
  stamp: Stamp
}

// Bundles only what changed: the compiler's build info contains the hashes of all sources.
const folders = Object.keys(PROGRAMS)
const services = folders.filter((folder) => folder.startsWith('services/'))
await bundleChanged(folders.map(bundleOf), [])
await bundleChanged([bundleOfAll()], [keepPrograms()])
buildConsole()

async function bundleChanged(bundles: Bundle[], plugins: Plugin[]): Promise<void> {
  const changed = bundles.filter(({ stamp }) => !stamp.matches())
  const entries = changed.flatMap((one) => one.entries)
  if (entries.length > 0) {
    rmSync(COMPILE_CACHE, { recursive: true, force: true })
    await bundle(entries, plugins)
  }
  for (const { stamp } of changed) stamp.set()
}

function bundleOf(folder: string): Bundle {
  return {
    entries: entriesOf(folder, PROGRAMS[folder] ?? []),
    stamp: stampOf(`${folder}/dist`, [folder]),
  }
}

function bundleOfAll(): Bundle {
  const entry = { in: inProject(`${ALL.in}.ts`), out: ALL.out }
  return { entries: [entry], stamp: stampOf(path.dirname(ALL.out), services, [entry.in]) }
}

function stampOf(folder: string, programs: string[], more: string[] = []): Stamp {
  const packages = ['runtime', 'domain', 'rpc', 'python-analysis', 'api-client'].map(
    (name) => `packages/${name}`,
  )
  const notes = [...programs, ...packages, 'proto']
  return new Stamp(inProject(`${folder}/.bundled`), {
    files: [
      ...notes.map((note) => inProject(`${note}/dist/.tsbuildinfo`)),
      ...SOURCES.map(inProject),
      ...more,
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

function bundle(entryPoints: Entry[], plugins: Plugin[]) {
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
    plugins: [keepFolders(), ...plugins],
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

/**
 * Lets each service find the files next to its own program, such as worker threads and the console, where
 * its code is part of another program.
 */
function keepPrograms(): Plugin {
  return {
    name: 'keep-programs',
    setup({ onLoad }) {
      onLoad({ filter: /services\/\w+\/src\/.*\.ts$/ }, ({ path: file }) => {
        const text = readFileSync(file, 'utf8')
        if (!text.includes('import.meta.url')) return undefined
        const [, service] = /services\/(\w+)\/src/.exec(path.relative(PROJECT, file)) ?? []
        const program = `programOfService('services/${service}').href`
        return { contents: text.replaceAll('import.meta.url', program), loader: 'ts' }
      })
    },
  }
}

function inProject(name: string): string {
  return path.join(PROJECT, name)
}
