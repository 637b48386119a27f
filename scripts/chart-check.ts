// `npm run chart`: checks the Helm chart with each value set by helm lint, helm template and kubeconform. If these
// are neither installed nor built and cannot be built with Go within the limit, it prints one line with the reason.
import { ensureKubernetesTools } from './kubernetes-tools.ts'
import { checkChart } from './lint/chart-manifests.ts'
import { catchSignals, stopSignal } from './process/signals.ts'

/** Limit of each build, so that the checks stay short; helm takes four minutes of processor time once. */
const BUILD_LIMIT_MS = 150_000

catchSignals()
const isGood = await checkChart(await ensureKubernetesTools(BUILD_LIMIT_MS), console.log)
process.exitCode = isGood && !stopSignal.aborted ? 0 : 1
