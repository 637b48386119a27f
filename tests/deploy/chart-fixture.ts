import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { ensureKubernetesTools } from '../../scripts/kubernetes-tools.ts'
import { CHART, VERSION, valuesOf } from '../../scripts/lint/chart-manifests.ts'

const tools = await ensureKubernetesTools()
export const chartObstacle = typeof tools === 'string' ? tools : undefined
if (chartObstacle) console.warn(`The chart is not rendered: ${chartObstacle}.`)
export const { helm, kubeconform } =
  typeof tools === 'string' ? { helm: '', kubeconform: '' } : tools

export interface Container {
  name: string
  image: string
  args?: string[]
  env: {
    name: string
    value?: string
    valueFrom?: { secretKeyRef?: { name: string; key: string }; fieldRef?: { fieldPath: string } }
  }[]
  securityContext: Rights
  ports?: { name: string; containerPort: number }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  resources: { requests: object; limits: { cpu?: string; memory?: string } }
  volumeMounts?: VolumeMount[]
}
export interface Probe {
  httpGet: { path: string; port: string }
  periodSeconds: number
  timeoutSeconds: number
  failureThreshold: number
}
/** Rights of a pod or a container. */
interface Rights {
  runAsUser?: number
  runAsGroup?: number
  fsGroup?: number
  readOnlyRootFilesystem?: boolean
  allowPrivilegeEscalation?: boolean
  capabilities?: { drop: string[] }
}
export interface VolumeMount {
  name: string
  mountPath: string
  /** A file of the volume; the whole volume otherwise. */
  subPath?: string
}
export interface Volume {
  name: string
  emptyDir?: object
  secret?: { secretName: string; defaultMode: number; items?: { key: string; path: string }[] }
  configMap?: { name: string }
}
export interface Manifest {
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  /** Files of a ConfigMap. */
  data?: Record<string, string>
  spec: {
    replicas?: number
    template: {
      metadata: { labels?: Record<string, string>; annotations?: Record<string, string> }
      spec: {
        containers: Container[]
        securityContext: Rights
        terminationGracePeriodSeconds?: number
        volumes?: Volume[]
      }
    }
    [key: string]: unknown
  }
}

export const run = (program: string, args: string[]) =>
  spawnSync(program, args, { encoding: 'utf8', cwd: tmpdir() })

export function render(set: string, more: string[] = []): string {
  const args = [
    'template',
    'windlass',
    CHART,
    '--namespace',
    'windlass',
    ...VERSION,
    ...valuesOf(set),
  ]
  const { status, stdout, stderr } = run(helm, [...args, ...more])
  expect(status, stderr).toBe(0)
  return stdout
}

export const manifestsOf = (text: string): Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? [])

export const podsOf = (manifests: Manifest[]) =>
  manifests.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
