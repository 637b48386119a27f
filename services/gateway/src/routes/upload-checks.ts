import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Clients } from '../clients/connect.ts'
import { importedPackages } from '../domain/imported-packages.ts'
import { importWarnings, type RunnerVerdicts, runnerWarnings } from '../domain/upload-warnings.ts'

/**
 * The dispatcher compares the package lists of the fleet; an upload waits for warnings no longer than this.
 */
const EXPLAIN_MS = 2_000

type Deps = Pick<Clients, 'fleet'>

/**
 * Returns what would keep each workflow from running on the workers that are connected now: imports that no
 * worker has a package for, and a runner that no worker offers. Empty lists if the dispatchers do not
 * answer.
 */
export async function findWarnings(
  { fleet }: Deps,
  workflows: readonly Workflow[],
): Promise<string[][]> {
  const packages = importedPackages(workflows[0]?.imports ?? [])
  const runners = [...new Set(workflows.map(({ requirement }) => requirement?.runner ?? ''))]
  const verdictsOf = async (runner: string, names: string[]) => {
    const requirement = { packages: names, affinity: {}, runner }
    return (await fleet.explain({ requirement }, { timeoutMs: EXPLAIN_MS })).verdicts
  }
  try {
    const [onPackages, ...onRunners] = await Promise.all([
      packages.size > 0 ? verdictsOf('', [...packages.values()].flat()) : [],
      ...runners
        .filter((runner) => runner !== '')
        .map(
          async (runner): Promise<RunnerVerdicts> => ({
            runner,
            verdicts: await verdictsOf(runner, []),
          }),
        ),
    ])
    return workflows.map(({ namespace, requirement }) => [
      ...onRunners
        .filter(({ runner }) => runner === requirement?.runner)
        .flatMap((verdicts) => runnerWarnings(namespace, verdicts)),
      ...importWarnings(namespace, packages, onPackages),
    ])
  } catch {
    return workflows.map(() => [])
  }
}
