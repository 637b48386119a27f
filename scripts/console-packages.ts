// `npm run console-packages`: writes docs/console-packages.md, the packages of the web console with their size,
// licence and last release. Needs the package registry.
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { findBundledPackages } from './console/bundled-packages.ts'
import { type ListedPackage, PACKAGES_PAGE, packagesPage } from './console/packages-table.ts'
import { temporaryDir } from './testing/temporary-dir.ts'

const CONSOLE = path.join(PROJECT, 'packages/console')
/** Packages that build and test the console; none of their code is in its scripts. */
const TOOLS = [
  { folder: path.join(CONSOLE, 'node_modules/vite'), use: 'builds it' },
  { folder: path.join(PROJECT, 'tests/node_modules/playwright-core'), use: 'tests it' },
  { folder: path.join(PROJECT, 'tests/node_modules/axe-core'), use: 'tests it' },
].map((tool) => ({ ...tool, gzipBytes: undefined }))
/** The history of a package in the registry. */
const MAX_OUTPUT_BYTES = 16 * 1_048_576

const execute = promisify(execFile)

interface Releases {
  'dist-tags': { latest: string }
  time: Record<string, string>
}

const built = temporaryDir()
try {
  const vite = path.join(CONSOLE, 'node_modules/vite/bin/vite.js')
  const args = ['build', '--outDir', built, '--sourcemap', '--logLevel', 'error']
  await execute(process.execPath, [vite, ...args], { cwd: CONSOLE })
  const bundled = findBundledPackages(built).map((one) => ({ ...one, use: 'part of it' }))
  const packages: ListedPackage[] = []
  for (const one of [...bundled, ...TOOLS]) packages.push(await describe(one))
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(path.join(PROJECT, PACKAGES_PAGE), packagesPage(packages, day))
  console.log(`${PACKAGES_PAGE}: ${packages.length} packages`)
} finally {
  rmSync(built, { recursive: true, force: true })
}

async function describe(one: {
  folder: string
  use: string
  gzipBytes: number | undefined
}): Promise<ListedPackage> {
  const { name, version, license } = JSON.parse(
    readFileSync(path.join(one.folder, 'package.json'), 'utf8'),
  )
  const view = ['view', name, 'time', 'dist-tags', '--json']
  const { stdout } = await execute('npm', view, { maxBuffer: MAX_OUTPUT_BYTES })
  const { time, 'dist-tags': tags }: Releases = JSON.parse(stdout)
  const dayOf = (release: string) => {
    const day = time[release]?.slice(0, 10)
    if (!day) throw new Error(`the registry gives no time for ${name} ${release}`)
    return day
  }
  return {
    ...{ name, version, licence: license, use: one.use, gzipBytes: one.gzipBytes },
    ...{ released: dayOf(version), newest: tags.latest, newestReleased: dayOf(tags.latest) },
  }
}
