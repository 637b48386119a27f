import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { listedVersions, PACKAGES_PAGE } from '../console/packages-table.ts'

const text = (name: string) => readFileSync(path.join(PROJECT, name), 'utf8')

interface Lock {
  importers: Record<string, Partial<Record<string, Record<string, { version: string }>>>>
  snapshots: Record<string, { dependencies?: Record<string, string> }>
}

const { importers, snapshots }: Lock = parse(text('pnpm-lock.yaml'))

/** The version of a package in the lock file, as the workspace folder `importer` gets it. */
function lockedVersion(importer: string, name: string): string {
  const { dependencies, devDependencies } = importers[importer] ?? {}
  const { version } = dependencies?.[name] ?? devDependencies?.[name] ?? {}
  if (!version) throw new Error(`${importer} has no package ${name}`)
  return version.replace(/\(.*/, '')
}

/** Imports of values: static, dynamic and re-exported ones. */
const IMPORTS = /^(?:import|export)(?! type)[^'"]*?from '([^']+)'|import\('([^']+)'\)/gm

function fileOf(from: string, specifier: string): string | undefined {
  const [, folder, name] = /^@windlass\/([\w-]+)\/(.+)$/.exec(specifier) ?? []
  if (folder) return `packages/${folder}/src/${name}.ts`
  return specifier.startsWith('.') ? path.join(path.dirname(from), specifier) : undefined
}

const specifiersOf = (file: string) =>
  [...text(file).matchAll(IMPORTS)].map(([, fixed, dynamic]) => fixed ?? dynamic ?? '')

/** Source files of the console, its entry first. */
function sourceFiles(): string[] {
  const files = ['packages/console/src/main.tsx']
  for (const file of files) {
    const targets = specifiersOf(file).flatMap((one) => fileOf(file, one) ?? [])
    files.push(...targets.filter((one) => /\.tsx?$/.test(one) && !files.includes(one)))
  }
  return [...new Set(files)]
}

/** Packages from the registry that the scripts of the console import, by name, with their versions. */
function importedVersions(): Record<string, string> {
  const files = sourceFiles()
  expect(files.length).toBeGreaterThan(100)
  const imports = files.flatMap((file) =>
    specifiersOf(file)
      .filter((one) => !fileOf(file, one))
      .map((one) => {
        const name = one.split('/', one.startsWith('@') ? 2 : 1).join('/')
        return [name, lockedVersion(file.split('/', 2).join('/'), name)] as const
      }),
  )
  return Object.fromEntries(imports)
}

test('the list of packages of the console: those that its scripts import, with the versions of the lock file', () => {
  const {
    vite,
    'playwright-core': browser,
    'axe-core': axe,
    ...part
  } = listedVersions(text(PACKAGES_PAGE))
  expect(part).toEqual(importedVersions())
  expect([vite, browser, axe]).toEqual([
    lockedVersion('packages/console', 'vite'),
    lockedVersion('tests', 'playwright-core'),
    lockedVersion('tests', 'axe-core'),
  ])
})

test('packages of the console: they need no further ones, which would be missing in the list', () => {
  for (const [name, version] of Object.entries(importedVersions()))
    expect(snapshots[`${name}@${version}`]?.dependencies, name).toBeUndefined()
})
