import { plainNameOf } from '@windlass/domain/names'
import type {
  RegisterRequest,
  Resources,
  Worker,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { type Problem, unprocessable } from '@windlass/runtime/faults'

const MAX_TEXT_CHARS = 256
const MAX_LABEL_KEY_CHARS = 128
const MAX_LABEL_VALUE_CHARS = 1_024
const MAX_LABELS = 64
const MAX_PACKAGES = 10_000
const MAX_RUNNERS = 16
const MAX_GPUS = 64
const MAX_RECONNECT_GRACE_S = 3_600

/** Returns the worker of a valid request; else throws `unprocessable` with every invalid field. */
export function requireValidWorker({ worker, instance, reconnect_grace }: RegisterRequest): Worker {
  const problems: Problem[] = []
  const report: Report = (place, msg, type = 'value_error') => {
    problems.push({ loc: ['body', ...place], msg, type })
  }
  if (!worker) throw unprocessable({ loc: ['body'], msg: 'Field required', type: 'missing' })
  if (plainNameOf(worker.name) === undefined)
    report(['name'], 'must be 1 to 128 letters, digits, dots, underscores or hyphens')
  if (instance.length > MAX_TEXT_CHARS) report(['instance'], tooLong(MAX_TEXT_CHARS))
  if (!Number.isInteger(worker.max_concurrent_executions) || worker.max_concurrent_executions < 0)
    report(['max_concurrent_executions'], 'must be 0 or more')
  if (
    reconnect_grace !== undefined &&
    !(reconnect_grace > 0 && reconnect_grace <= MAX_RECONNECT_GRACE_S)
  )
    report(['reconnect_grace'], `must be more than 0 and at most ${MAX_RECONNECT_GRACE_S}`)
  checkRuntime(worker, report)
  checkPackages(worker, report)
  checkLabels(worker, report)
  checkRunners(worker, report)
  if (worker.resources) checkResources(worker.resources, report)
  const [first, ...rest] = problems
  if (first) throw unprocessable(first, ...rest)
  return worker
}

type Report = (place: (string | number)[], msg: string, type?: string) => void

const tooLong = (chars: number) => `must have at most ${chars} characters`
const tooMany = (count: number) => `must have at most ${count} items`

function checkRuntime({ runtime }: Worker, report: Report): void {
  for (const [field, text] of Object.entries(runtime ?? {}))
    if (text.length > MAX_TEXT_CHARS) report(['runtime', field], tooLong(MAX_TEXT_CHARS))
}

function checkPackages({ packages }: Worker, report: Report): void {
  if (packages.length > MAX_PACKAGES) {
    report(['packages'], tooMany(MAX_PACKAGES))
    return
  }
  for (const [i, { name, version }] of packages.entries()) {
    if (name === '') report(['packages', i, 'name'], 'must not be empty')
    if (name.length > MAX_TEXT_CHARS) report(['packages', i, 'name'], tooLong(MAX_TEXT_CHARS))
    if (version.length > MAX_TEXT_CHARS) report(['packages', i, 'version'], tooLong(MAX_TEXT_CHARS))
  }
}

function checkLabels({ labels }: Worker, report: Report): void {
  const entries = Object.entries(labels)
  if (entries.length > MAX_LABELS) {
    report(['labels'], tooMany(MAX_LABELS))
    return
  }
  for (const [key, value] of entries) {
    if (key === '' || key.length > MAX_LABEL_KEY_CHARS)
      report(['labels'], `a key must have 1 to ${MAX_LABEL_KEY_CHARS} characters`)
    else if (value.length > MAX_LABEL_VALUE_CHARS)
      report(['labels', key], tooLong(MAX_LABEL_VALUE_CHARS))
  }
}

function checkRunners({ runners }: Worker, report: Report): void {
  if (runners.length > MAX_RUNNERS) {
    report(['runners'], tooMany(MAX_RUNNERS))
    return
  }
  for (const [i, runner] of runners.entries())
    if (runner === '' || runner.length > MAX_TEXT_CHARS)
      report(['runners', i], `must have 1 to ${MAX_TEXT_CHARS} characters`)
}

function checkResources({ gpus, ...amounts }: Resources, report: Report): void {
  const amount = (place: (string | number)[], value: number) => {
    if (!Number.isFinite(value) || value < 0) report(place, 'must be a finite number, 0 or more')
  }
  for (const [field, value] of Object.entries(amounts)) amount(['resources', field], value)
  if (gpus.length > MAX_GPUS) {
    report(['resources', 'gpus'], tooMany(MAX_GPUS))
    return
  }
  for (const [i, gpu] of gpus.entries()) {
    if (gpu.name.length > MAX_TEXT_CHARS)
      report(['resources', 'gpus', i, 'name'], tooLong(MAX_TEXT_CHARS))
    amount(['resources', 'gpus', i, 'memory_total'], gpu.memory_total)
    amount(['resources', 'gpus', i, 'memory_available'], gpu.memory_available)
  }
}
