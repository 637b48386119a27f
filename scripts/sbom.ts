// `npm run sbom -- [FILE]`: writes the software bill of materials (CycloneDX) of the Node and Python packages
// that the lock files name; windlass.cdx.json without a name. The generator validates it against the schema.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { PROJECT, projectDataDir } from './bootstrap/data-dir.mjs'
import { NPM_FLAGS } from './bootstrap/node-packages.mjs'
import { catchSignals } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { run } from './setup/run.ts'

const GENERATOR_VERSION = '12.8.4'
/** Kinds of packages that the bill must name. */
const KINDS = ['npm', 'pypi']

catchSignals()
const [name = 'windlass.cdx.json'] = process.argv.slice(2)
const file = path.resolve(name)
const progress = new Progress()
try {
  const generator = await ensureGenerator(projectDataDir())
  const types = ['--type', 'pnpm', '--type', 'pypi']
  const args = [...types, '--no-install-deps', '--exclude', '**/.windlass/**', '--output', file]
  await progress.step('Listing the packages', (onLine) =>
    run(process.execPath, [generator, ...args, PROJECT], { cwd: PROJECT, onLine }),
  )
  process.stdout.write(`${file}: ${countPackages(file)}\n`)
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
}

/** Returns the number of packages of each kind; throws if there is none of one. */
function countPackages(file: string): string {
  const { components } = JSON.parse(readFileSync(file, 'utf8')) as {
    components: { purl?: string }[]
  }
  return KINDS.map((kind) => {
    const count = components.filter(({ purl }) => purl?.startsWith(`pkg:${kind}/`)).length
    if (count === 0) throw new Error(`${file} names no ${kind} package; see the output of cdxgen`)
    return `${count} ${kind}`
  }).join(', ')
}

/** Returns the program of cdxgen, of OWASP CycloneDX; fetched at its first use. */
async function ensureGenerator(dir: string): Promise<string> {
  const home = path.join(dir, `tools/cdxgen-${GENERATOR_VERSION}`)
  const program = path.join(home, 'node_modules/@cyclonedx/cdxgen/bin/cdxgen.js')
  if (existsSync(program)) return program
  const flags = [...NPM_FLAGS, '--omit=optional']
  const args = ['install', '--prefix', home, ...flags, `@cyclonedx/cdxgen@${GENERATOR_VERSION}`]
  await progress.step('Fetching cdxgen', (onLine) => run('npm', args, { cwd: dir, onLine }))
  return program
}
