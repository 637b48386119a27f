import type { Declaration } from './declaration.ts'
import { refuse } from './options/option.ts'
import {
  choice,
  type Options,
  optionsOf,
  permissions,
  seconds,
  secretNames,
} from './options/options.ts'
import { type Routing, routingOf } from './options/routing.ts'
import { scheduleOf } from './options/schedule.ts'
import { docOf } from './python/class-body.ts'
import { type Constant, constantOf } from './python/constants.ts'
import type { Definition } from './python/scope.ts'

const DURABILITIES = ['durable', 'transient']
const RUNNERS = ['inprocess', 'subprocess', 'docker']

/** Namespace and name of a workflow. */
export type Name = [namespace: string, name: string]

/** A workflow, and what of the same source it can come to run. */
export interface Surroundings {
  definition: Definition
  options: Options
  tasks: Declaration[]
  nested: Name[]
  sdkModules: string[]
}

export type Metadata = {
  [key: string]: unknown
  runner?: string | undefined
  routing?: Routing | undefined
  queue_timeout?: number | undefined
}

/** What a workflow declares of itself and of the tasks it reaches. Absent options are left out. */
export function metadataOf({
  definition,
  options,
  tasks,
  nested,
  sdkModules,
}: Surroundings): Metadata {
  const known = tasks.map((task) => ({ task, options: optionsOf(task) }))
  const exempt = known.filter(({ options }) => isTrue(constantAt(options, 'auth_exempt')))
  const ofAll = (read: (options: Options) => string[]) =>
    sorted([options, ...known.map(({ options }) => options)].flatMap(read))
  return {
    task_names: sorted(known.map(taskName)),
    nested_workflows: nested.sort((a, b) => (a.join('/') < b.join('/') ? -1 : 1)),
    auth_exempt_tasks: sorted(exempt.map(taskName)),
    secret_requests: ofAll(secretNames),
    required_permissions: ofAll(permissions),
    durability: choice(options, 'durability', DURABILITIES),
    runner: choice(options, 'runner', RUNNERS),
    queue_timeout: seconds(options, 'queue_timeout'),
    ...timesAndPlaces(options, sdkModules),
    description: docOf(definition),
  }
}

function timesAndPlaces(options: Options, sdkModules: string[]) {
  const routing = options.get('routing')
  const schedule = options.get('schedule')
  const config = schedule && scheduleOf(schedule, sdkModules)
  if (config && schedule && constantAt(options, 'durability') === 'transient') {
    throw refuse(schedule, 'a transient workflow cannot have one')
  }
  return { routing: routing && routingOf(routing, sdkModules), schedule: config }
}

/** A task's name may be a template, which is kept as it is; one that is computed is not known. */
function taskName({ task, options }: { task: Declaration; options: Options }): string {
  const name = constantAt(options, 'name')
  return typeof name === 'string' && name !== '' ? name.normalize('NFC') : task.definition.name
}

function constantAt(options: Options, name: string): Constant | undefined {
  const option = options.get(name)
  return option && constantOf(option.value)
}

/** As Python judges. */
const isTrue = (value: Constant | undefined): boolean =>
  Array.isArray(value) ? value.length > 0 : Boolean(value)

const sorted = (names: string[]): string[] => [...new Set(names)].sort()
