import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import { type Arguments, argumentsOf } from '../python/arguments.ts'
import { constantOf } from '../python/constants.ts'
import { calleeOf, type Expression, followNames } from '../python/expression.ts'
import { sdkPaths } from '../sdk-names.ts'
import { type Option, optionFault, requireConstant, requireNumber, requireTexts } from './option.ts'
import type { Routing } from './routing.ts'

/** `ResourceRequest` as declared: an absent resource is not requested. */
export interface Requests {
  cpu?: number
  memory?: number | string
  gpu?: number
  disk?: number | string
  packages?: string[]
}

const RESOURCES = ['cpu', 'memory', 'gpu', 'disk', 'packages'] as const
const SIZE = /^(\d+(?:\.\d+)?)\s*(?:([KMGTP])i?)?B?$/i
const POWERS = 'KMGTP'
const PACKAGE = /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\s*(==|>=)\s*([A-Za-z0-9][A-Za-z0-9._!+-]*))?$/
const MAX_PACKAGES = 100

/** Reads `requests=`; undefined if it requests nothing. */
export function readRequests(option: Option, sdkModules: string[]): Requests | undefined {
  if (constantOf(option.value) === null) return undefined
  const given = resourceArguments(option, sdkModules)
  const requests = Object.fromEntries(
    RESOURCES.flatMap((resource) => {
      const value = given.get(resource)
      if (!value || constantOf(value) === null) return []
      return [
        [resource, readResource({ ...option, name: `requests.${resource}`, value }, resource)],
      ]
    }),
  )
  const unknown = [...given.keys()].find((name) => !RESOURCES.some((resource) => resource === name))
  if (unknown !== undefined) throw optionFault(option, `'${unknown}' is not a resource`)
  return Object.keys(requests).length > 0 ? requests : undefined
}

/**
 * Returns the arguments of `ResourceRequest(memory=…)` or of a factory,
 * `ResourceRequest.with_memory(…)`.
 */
function resourceArguments(option: Option, sdkModules: string[]): Map<string, Expression> {
  const call = followNames(option.value)
  const called = calleeOf(call)
  const [path = ''] = called ? sdkPaths(called, sdkModules) : []
  const factory = /(?:^|\.)ResourceRequest(?:\.with_(cpu|memory|gpu|disk|packages))?$/.exec(path)
  if (!factory) throw optionFault(option, 'it must be a ResourceRequest, written out')
  const given = argumentsOf(call)
  if (given.isIncomplete) throw optionFault(option, 'it must be written out')
  return factory[1]
    ? requireSingleArgument(option, factory[1], given)
    : requireKeywords(option, given)
}

function requireSingleArgument(
  option: Option,
  resource: string,
  { positional, keywords }: Arguments,
) {
  const [value, ...others] = [...positional, ...keywords.values()]
  if (!value || others.length > 0) throw optionFault(option, `with_${resource} takes one value`)
  return new Map([[resource, value]])
}

function requireKeywords(option: Option, { positional, keywords }: Arguments) {
  if (positional.length > 0) throw optionFault(option, 'resources are given by name')
  return keywords
}

function readResource(option: Option, resource: (typeof RESOURCES)[number]) {
  if (resource === 'packages') return readPackages(option)
  if (resource === 'memory' || resource === 'disk') return readSize(option)
  return requireAmount(option, requireNumber(option))
}

function requireAmount(option: Option, value: number): number {
  if (value < 0) throw optionFault(option, 'it must not be negative')
  return value
}

function readSize(option: Option): number | string {
  const value = requireConstant(option)
  if (typeof value === 'number') return requireAmount(option, value)
  if (typeof value !== 'string' || bytesOf(value) === undefined) {
    throw optionFault(option, 'it must be a number of bytes or a size such as 512Mi or 4G')
  }
  return value
}

function readPackages(option: Option): string[] {
  const names = requireTexts(option).map((name) => name.trim())
  if (names.length > MAX_PACKAGES) throw optionFault(option, `at most ${MAX_PACKAGES} packages`)
  const wrong = names.find((name) => !PACKAGE.test(name))
  if (wrong !== undefined) {
    throw optionFault(
      option,
      `'${wrong.slice(0, 60)}' is not of the form name, name==version or name>=version`,
    )
  }
  return names
}

/** Converts a size to bytes. K and Ki, M and Mi, … are the same powers of 1024. */
export function bytesOf(size: string): number | undefined {
  const [, digits, unit] = SIZE.exec(size.trim()) ?? []
  if (digits === undefined) return undefined
  const power = unit ? POWERS.indexOf(unit.toUpperCase()) + 1 : 0
  return Math.floor(Number(digits) * 1024 ** power)
}

/** Options that select a worker besides resources and labels. */
interface RunOptions {
  runner?: string | undefined
  routing?: Routing | undefined
  queue_timeout?: number | undefined
}

/** Builds the requirement for matching: sizes in bytes, packages normalized and sorted. */
export function toRequirement(
  requests: Requests,
  affinity: Record<string, string>,
  { runner = '', routing, queue_timeout }: RunOptions = {},
): Requirement {
  const { cpu, memory, gpu, disk, packages = [] } = requests
  const bytes = (size: number | string | undefined) =>
    typeof size === 'string' ? bytesOf(size) : size
  const spelled = packages.map((name) => {
    const [, base = '', operator = '', version = ''] = PACKAGE.exec(name) ?? []
    return `${base.toLowerCase()}${operator}${version}`
  })
  return {
    cpu,
    memory: bytes(memory),
    gpu,
    disk: bytes(disk),
    packages: [...new Set(spelled)].sort(),
    affinity,
    runner,
    routing_json: routing && JSON.stringify(routing),
    queue_timeout,
  }
}
