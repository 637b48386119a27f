// Builds helm and kubeconform, which are Go programs, in the data directory; `npm run test:deploy` uses them.
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
 * minutes of processor time once. Returns the reason as text if they cannot be had.
 */
export async function ensureKubernetesTools(): Promise<KubernetesTools | string> {
  try {
    return { helm: await ensureGoProgram(HELM), kubeconform: await ensureGoProgram(KUBECONFORM) }
  } catch (error) {
    return (error as Error).message
  }
}
