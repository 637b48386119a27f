import type { Verdict } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { ImportedPackages } from './imported-packages.ts'

/** Parts that each worker does not meet; a part that no worker meets keeps a workflow from running. */
type Fleet = readonly Pick<Verdict, 'status' | 'lacking' | 'namespaces'>[]

/** Requirement of one runner, and the verdicts of all workers on it. */
export interface RunnerVerdicts {
  runner: string
  verdicts: Fleet
}

/** Returns the connected workers that may run workflows of a namespace. */
const workersOf = (namespace: string, fleet: Fleet): Fleet =>
  fleet.filter(
    ({ status, namespaces }) =>
      status === 'online' && (!namespaces || namespaces.names.includes(namespace)),
  )

/** Returns a warning for each import that no connected worker of the namespace has a package for. */
export function importWarnings(
  namespace: string,
  packages: ImportedPackages,
  verdicts: Fleet,
): string[] {
  const workers = workersOf(namespace, verdicts)
  if (workers.length === 0) return []
  const isReported = (name: string) =>
    workers.some(({ lacking }) => !lacking.includes(`package '${name}'`))
  return [...packages]
    .filter(([, names]) => !names.some(isReported))
    .map(([module, [name = module]]) => {
      const wanted = name === module ? '' : ` (package '${name}')`
      return `no connected worker reports the import '${module}'${wanted}: install it on a worker, unless it is a module of the worker's --path`
    })
}

/** Returns a warning if no connected worker of the namespace offers the runner. */
export function runnerWarnings(namespace: string, { runner, verdicts }: RunnerVerdicts): string[] {
  const workers = workersOf(namespace, verdicts)
  const isOffered = workers.some(({ lacking }) => !lacking.includes(`runner '${runner}'`))
  if (workers.length === 0 || isOffered) return []
  return [`no connected worker offers the runner '${runner}': executions wait until one does`]
}
