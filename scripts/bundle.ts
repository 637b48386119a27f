// The second half of `npm run build`: bundles each program of a service into one file of the compiler's
// output. A process then starts in half the time that resolving and reading hundreds of modules takes.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { Stamp } from './bootstrap/stamp.mjs'

/** The programs of a service, and the code of a worker thread, by their entry files. */
const PROGRAMS: Record<string, string[]> = {
  gateway: ['main', 'route/body.worker'],
  identity: ['main', 'migrate', 'create-admin-key', 'review-anonymous', 'prune-audit'],
  catalog: ['main', 'migrate', 'analysis/analysis.worker'],
  executions: ['main', 'migrate'],
  dispatcher: ['main', 'migrate'],
  scheduler: ['main', 'migrate'],
  mcp: ['main'],
}

/** Globals that CommonJS modules expect. */
const COMMON_JS = `
import { createRequire as createRequireOfBundle } from 'node:module'
import { fileURLToPath as pathInBundle } from 'node:url'
const require = createRequireOfBundle(import.meta.url)
const folderOfModule = (folder) => pathInBundle(new URL(folder, import.meta.url))
`

// Bundles only what changed: the compiler's build info contains the hashes of all sources.
const changed = Object.entries(PROGRAMS)
  .map(([service, programs]) => ({ service, programs, stamp: stampOf(service) }))
  .filter(({ stamp }) => !stamp.matches())
if (changed.length > 0)
  await bundle(changed.flatMap(({ service, programs }) => entriesOf(service, programs)))
for (const { stamp } of changed) stamp.set()

function stampOf(service: string): Stamp {
  const packages = ['runtime', 'domain', 'rpc', 'python-analysis', 'api-client'].map(
    (name) => `packages/${name}`,
  )
  const notes = [`services/${service}`, ...packages, 'proto']
  return new Stamp(inProject(`services/${service}/dist/.bundled`), {
    files: [
      ...notes.map((folder) => inProject(`${folder}/dist/.tsbuildinfo`)),
      ...['pnpm-lock.yaml', 'scripts/bundle.ts'].map(inProject),
    ],
  })
}

/** All programs are in one folder, so each finds the files that it loads by relative path. */
interface Entry {
  in: string
  out: string
}

function entriesOf(service: string, programs: string[]): Entry[] {
  return programs.map((program) => ({
    in: inProject(`services/${service}/src/${program}.ts`),
    out: `services/${service}/dist/${path.basename(program)}`,
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
