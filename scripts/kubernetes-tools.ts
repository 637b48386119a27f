// Builds helm and kubeconform, which are Go programs, in the data directory; `npm run chart` and `npm run
// test:deploy` use them.
import { ensureGoProgram } from './setup/go-programs.ts'

const HELM = { name: 'helm', module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' }
const KUBECONFORM = {
  name: 'kubeconform',
  module: 'github.com/yannh/kubeconform/cmd/kubeconform',
  version: 'v0.6.7',
}

export interface KubernetesTools {
  helm: string
  kubeconform: string
}

/**
 * Returns the paths of helm and kubeconform: those of the PATH, else ones that are built with Go, which takes
 * minutes of processor time once. Returns the reason as text if they cannot be had, or if a build exceeds the limit.
 */
export async function ensureKubernetesTools(limitMs?: number): Promise<KubernetesTools | string> {
  try {
    const kubeconform = await ensureGoProgram(KUBECONFORM, limitMs)
    return { helm: await ensureGoProgram(HELM, limitMs), kubeconform }
  } catch (error) {
    return (error as Error).message
  }
}
