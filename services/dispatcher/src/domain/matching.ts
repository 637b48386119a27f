import type { Package, Resources } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import { compareVersions } from './versions.ts'

/** Properties of a worker that requirements are compared with. */
export interface Capabilities {
  resources: Resources | undefined
  /** Version by normalized name. */
  packages: () => ReadonlyMap<string, string>
  labels: Readonly<Record<string, string>>
  runners: readonly string[]
  /** Namespaces that it may run; undefined: all. */
  namespaces?: readonly string[] | undefined
}

/** True if the worker meets the whole requirement. */
export const meets = (requirement: Requirement, capabilities: Capabilities): boolean =>
  firstUnmet(requirement, capabilities) === undefined

/** Description of the first unmet part of a requirement; undefined if all are met. */
export function firstUnmet(requirement: Requirement, capabilities: Capabilities) {
  for (const lack of unmetRequirements(requirement, capabilities)) return lack
  return undefined
}

/** Descriptions of all unmet parts of a requirement. */
export function* unmetRequirements(requirement: Requirement, capabilities: Capabilities) {
  yield* missingNamespace(requirement, capabilities)
  yield* missingRunner(requirement, capabilities)
  yield* missingLabels(requirement, capabilities)
  yield* missingAmounts(requirement, capabilities)
  yield* missingPackages(requirement, capabilities)
}

/** Normalizes a package name as the Python package index does (PEP 503). */
export const normalizeName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-')

/** Indexes package versions by normalized name. */
export const packageIndex = (packages: readonly Package[]): ReadonlyMap<string, string> =>
  new Map(packages.map(({ name, version }) => [normalizeName(name), version]))

function* missingNamespace({ namespace }: Requirement, { namespaces }: Capabilities) {
  if (namespaces && (namespace === undefined || !namespaces.includes(namespace)))
    yield `namespace '${namespace ?? ''}'`
}

function* missingRunner({ runner }: Requirement, { runners }: Capabilities) {
  if (runner !== '' && !runners.includes(runner)) yield `runner '${runner}'`
}

function* missingLabels({ affinity }: Requirement, { labels }: Capabilities) {
  for (const [key, value] of Object.entries(affinity))
    if (!Object.hasOwn(labels, key) || labels[key] !== value) yield `label '${key}' = '${value}'`
}

function* missingAmounts(requirement: Requirement, { resources }: Capabilities) {
  const gpus = resources?.gpus.filter(({ memory_available }) => memory_available > 0).length
  const amounts: [string, number | undefined, number | undefined][] = [
    ['cpu', requirement.cpu, resources?.cpu_available],
    ['memory', requirement.memory, resources?.memory_available],
    ['disk', requirement.disk, resources?.disk_free],
    ['gpu', requirement.gpu, gpus],
  ]
  for (const [name, needed, available] of amounts)
    if (needed !== undefined && !(available !== undefined && available >= needed))
      yield `${name} ${needed}`
}

function* missingPackages({ packages: wanted }: Requirement, { packages }: Capabilities) {
  if (wanted.length === 0) return
  const installed = packages()
  for (const one of wanted) if (!hasPackage(one, installed)) yield `package '${one}'`
}

const WANTED = /^([A-Za-z0-9._-]+)\s*(?:(==|>=)\s*([A-Za-z0-9._+!-]+))?$/

function hasPackage(wanted: string, packages: ReadonlyMap<string, string>): boolean {
  const [, name, operator, version = ''] = WANTED.exec(wanted.trim()) ?? []
  const installed = name === undefined ? undefined : packages.get(normalizeName(name))
  if (installed === undefined) return false
  if (operator === undefined || installed === version) return true
  const order = compareVersions(installed, version)
  if (order === undefined) return false
  // A requirement with a local label (`2.1+cu118`) is met by exactly that build.
  return operator === '>=' ? order >= 0 : order === 0 && !version.includes('+')
}
