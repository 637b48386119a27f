// Builds helm and kubeconform, which are Go programs, in the data directory; `npm run test:deploy` uses them.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { projectDataDir } from './bootstrap/data-dir.mjs'
import { findProgram } from './setup/programs.ts'
import { Progress } from './setup/progress.ts'
import { run } from './setup/run.ts'

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
    return { helm: await ensureTool(HELM), kubeconform: await ensureTool(KUBECONFORM) }
  } catch (error) {
    return (error as Error).message
  }
}

async function ensureTool({ name, module, version }: typeof HELM): Promise<string> {
  const installed = findProgram(name)
  if (installed !== undefined) return installed
  const folder = path.join(projectDataDir(), `tools/${name}-${version}`)
  const built = path.join(folder, name)
  if (existsSync(built)) return built
  const go = findProgram('go', ['/usr/local/go/bin'])
  if (go === undefined) throw new Error(`there is neither ${name} nor Go to build it`)
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '-modcacherw' }
  await new Progress().step(`Building ${name}`, (onLine) =>
    run(go, ['install', '-ldflags=-s -w', `${module}@${version}`], { env, onLine }),
  )
  return built
}
