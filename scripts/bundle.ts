// Bundles each program whose sources have changed into one file: a process then starts in half the time that
// resolving and reading hundreds of modules takes. Then builds the web console. Types are not checked here.
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { buildConsole } from './console/console-files.ts'
import { bundles, type Entry } from './setup/bundles.ts'
import { COMPILE_CACHE } from './setup/compile-cache.ts'

/** Globals that CommonJS modules expect. */
const COMMON_JS = `
import { createRequire as createRequireOfBundle } from 'node:module'
import { fileURLToPath as pathInBundle } from 'node:url'
const require = createRequireOfBundle(import.meta.url)
const folderOfModule = (folder) => pathInBundle(new URL(folder, import.meta.url))
const programOfService = (folder) => new URL('../../../' + folder + '/dist/main.js', import.meta.url)
`

await Promise.all([bundleChanged(), buildConsole()])

async function bundleChanged(): Promise<void> {
  const changed = bundles().filter(({ stamp }) => !stamp.matches())
  if (changed.length > 0) rmSync(COMPILE_CACHE, { recursive: true, force: true })
  for (const isSeveral of [false, true]) {
    const entries = changed
      .filter((one) => one.isSeveral === isSeveral)
      .flatMap((one) => one.entries)
    if (entries.length > 0) await bundle(entries, isSeveral ? [keepPrograms()] : [])
  }
  for (const { stamp } of changed) stamp.set()
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
  const dist = path.join(PROJECT, 'services/any/dist')
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
