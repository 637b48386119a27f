// The second half of `npm run build`: makes each program of a service one file over what the compiler
// wrote, so that a process starts in half the time that hundreds of modules take to be found and read.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { PROJECT } from './lib/data-dir.mjs'
import { Stamp } from './lib/stamp.mjs'

/** The programs of a service, and the body of a thread, by the files that they are made from. */
const PROGRAMS = {
  gateway: ['main'],
  identity: ['main', 'migrate', 'create-admin-key'],
  catalog: ['main', 'migrate', 'analysis/analysis.worker'],
  executions: ['main', 'migrate'],
  dispatcher: ['main', 'migrate'],
  scheduler: ['main', 'migrate'],
  mcp: ['main'],
}

/** What CommonJS modules expect to be there. */
const COMMON_JS = `
import { createRequire as createRequireOfBundle } from 'node:module'
import { fileURLToPath as pathInBundle } from 'node:url'
const require = createRequireOfBundle(import.meta.url)
const folderOfModule = (folder) => pathInBundle(new URL(folder, import.meta.url))
`

// Bundles what changed since the last time; the compiler's notes have the hashes of all sources.
const changed = Object.keys(PROGRAMS)
  .map((service) => ({ service, stamp: stampOf(service) }))
  .filter(({ stamp }) => !stamp.matches())
if (changed.length > 0) await bundle(changed.flatMap(({ service }) => entriesOf(service)))
for (const { stamp } of changed) stamp.set()

function stampOf(service) {
  const packages = ['runtime', 'domain', 'rpc', 'python-analysis', 'api-client'].map(
    (name) => `packages/${name}`,
  )
  const notes = [`services/${service}`, ...packages, 'proto']
  return new Stamp(inProject(`services/${service}/dist/.bundled`), {
    files: [
      ...notes.map((folder) => inProject(`${folder}/dist/.tsbuildinfo`)),
      ...['pnpm-lock.yaml', 'scripts/bundle.mjs'].map(inProject),
    ],
  })
}

/** The programs lie side by side, so that every part of one finds what lies beside it. */
function entriesOf(service) {
  return PROGRAMS[service].map((program) => ({
    in: inProject(`services/${service}/src/${program}.ts`),
    out: `services/${service}/dist/${path.basename(program)}`,
  }))
}

function bundle(entryPoints) {
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

/** Modules of dependencies that ask for their own folder, to read what lies there, are told it. */
function keepFolders() {
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

function inProject(name) {
  return path.join(PROJECT, name)
}
