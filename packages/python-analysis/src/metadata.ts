import type { Declaration } from './declaration.ts'
import { optionFault } from './options/option.ts'
import {
  type Options,
  optionsOf,
  readChoice,
  readFlag,
  readPermissions,
  readSeconds,
  readSecretNames,
  readWhole,
} from './options/options.ts'
import { type Routing, readRouting } from './options/routing.ts'
import { readSchedule } from './options/schedule.ts'
import { readTags } from './options/tags.ts'
import { docstringOf } from './python/class-body.ts'
import { type Constant, constantOf } from './python/constants.ts'
import type { Definition } from './python/scope.ts'

const DURABILITIES = ['durable', 'strict', 'transient']
const MAX_PRIORITY = 9
const RUNNERS = ['inprocess', 'subprocess', 'docker']

/** Namespace and name of a workflow. */
export type WorkflowName = [namespace: string, name: string]

/** Workflow with the declarations that it can run. */
export interface MetadataInput {
  definition: Definition
  options: Options
  tasks: Declaration[]
  nested: WorkflowName[]
  sdkModules: string[]
}

export type Metadata = {
  [key: string]: unknown
  runner?: string | undefined
  routing?: Routing | undefined
  queue_timeout?: number | undefined
}

/** Builds the metadata from a workflow and the tasks it reaches. Undeclared options are absent. */
export function toMetadata({
  definition,
  options,
  tasks,
  nested,
  sdkModules,
}: MetadataInput): Metadata {
  const known = tasks.map((task) => ({ task, options: optionsOf(task) }))
  const exempt = known.filter(({ options }) => isTruthy(constantAt(options, 'auth_exempt')))
  const separate = known.filter(({ options }) => readFlag(options, 'separate_approver'))
  const ofAll = (read: (options: Options) => string[]) =>
    sorted([options, ...known.map(({ options }) => options)].flatMap(read))
  return {
    task_names: sorted(known.map(taskName)),
    nested_workflows: nested.sort((a, b) => (a.join('/') < b.join('/') ? -1 : 1)),
    auth_exempt_tasks: sorted(exempt.map(taskName)),
    secret_requests: ofAll(readSecretNames),
    required_permissions: ofAll(readPermissions),
    separate_approver_tasks: separate.length > 0 ? sorted(separate.map(taskName)) : undefined,
    durability: readChoice(options, 'durability', DURABILITIES),
    runner: readChoice(options, 'runner', RUNNERS),
    queue_timeout: readSeconds(options, 'queue_timeout'),
    priority: readWhole(options, 'priority', MAX_PRIORITY),
    tags: readTags(options.get('tags')),
    ...readScheduleAndRouting(options, sdkModules),
    description: docstringOf(definition),
  }
}

function readScheduleAndRouting(options: Options, sdkModules: string[]) {
  const routing = options.get('routing')
  const schedule = options.get('schedule')
  const config = schedule && readSchedule(schedule, sdkModules)
  if (config && schedule && constantAt(options, 'durability') === 'transient') {
    throw optionFault(schedule, 'a transient workflow cannot have one')
  }
  return { routing: routing && readRouting(routing, sdkModules), schedule: config }
}

/**
 * Returns the declared task name; templates such as `store_{x}` stay as written. A computed name
 * falls back to the function's name.
 */
function taskName({ task, options }: { task: Declaration; options: Options }): string {
  const name = constantAt(options, 'name')
  return typeof name === 'string' && name !== '' ? name.normalize('NFC') : task.definition.name
}

function constantAt(options: Options, name: string): Constant | undefined {
  const option = options.get(name)
  return option && constantOf(option.value)
}

/** Truth value as Python defines it. */
const isTruthy = (value: Constant | undefined): boolean =>
  Array.isArray(value) ? value.length > 0 : Boolean(value)

const sorted = (names: string[]): string[] => [...new Set(names)].sort()
