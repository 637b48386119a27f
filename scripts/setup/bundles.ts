import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { Stamp } from '../bootstrap/stamp.mjs'
import { PROGRAMS } from './bundled-programs.ts'
import { filesBelow } from './files-below.ts'

/** A program of the project and the file that it is bundled into, without its ending. */
export interface Entry {
  in: string
  out: string
}

/** Programs that are bundled again if one of their sources has changed. */
export interface Bundle {
  entries: Entry[]
  stamp: Stamp
  /** True if it contains several services, which look for files next to their own program. */
  isSeveral: boolean
}

const PACKAGES = ['runtime', 'domain', 'rpc', 'python-analysis', 'api-client']
const SHARED = [...PACKAGES.map((name) => `packages/${name}/src`), 'proto/gen']
const BUILD = ['pnpm-lock.yaml', 'scripts/bundle.ts', 'scripts/setup/bundled-programs.ts']

/** Returns all bundles. Each stamp holds the contents of the program's folder, of all packages and of the build. */
export function bundles(): Bundle[] {
  const hashes = new Map<string, string>()
  const hash = (folder: string) => {
    const known = hashes.get(folder) ?? hashOfFolder(path.join(PROJECT, folder))
    hashes.set(folder, known)
    return known
  }
  const files = BUILD.map((name) => path.join(PROJECT, name))
  const stampOf = (file: string, folders: string[]) =>
    new Stamp(path.join(PROJECT, file), { files, facts: [...folders, ...SHARED].map(hash) })
  const folders = Object.keys(PROGRAMS)
  const services = folders.filter((folder) => folder.startsWith('services/'))
  return [
    ...folders.map((folder) => ({
      entries: entriesOf(folder, PROGRAMS[folder] ?? []),
      stamp: stampOf(`${folder}/dist/.bundled`, [`${folder}/src`]),
      isSeveral: false,
    })),
    ...[
      // All services in one process, and the settings that `npm start` itself reads.
      { program: 'single-process', out: 'services/all/main', isSeveral: true },
      { program: 'start-settings', out: 'scripts/start-settings', isSeveral: false },
    ].map(({ program, out, isSeveral }) => ({
      entries: [{ in: path.join(PROJECT, `scripts/programs/${program}.ts`), out: `dist/${out}` }],
      stamp: stampOf(`dist/${path.dirname(out)}/.bundled`, [
        'scripts/programs',
        ...(isSeveral ? services.map((service) => `${service}/src`) : []),
      ]),
      isSeveral,
    })),
  ]
}

function entriesOf(folder: string, programs: readonly string[]): Entry[] {
  return programs.map((program) => ({
    in: path.join(PROJECT, `${folder}/src/${program}.ts`),
    out: `${folder}/dist/${path.basename(program)}`,
  }))
}

/** Hash of the names and contents of all files below a folder. */
export function hashOfFolder(folder: string): string {
  const hash = createHash('sha256')
  for (const file of filesBelow(folder))
    hash
      .update(`${path.relative(folder, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}
