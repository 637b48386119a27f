import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import type { Manifest, Volume, VolumeMount } from './chart-fixture.ts'

export interface PodNetwork {
  network: string
  /** Secrets to which the chart refers, by their name. */
  secrets: Record<string, Record<string, string>>
  /** All that the chart renders. */
  manifests: Manifest[]
}

/** Options of docker for a mount of a rendered pod. */
export function mountOf(
  volume: Volume | undefined,
  { mountPath, subPath }: VolumeMount,
  { fsGroup }: { fsGroup?: number },
  place: PodNetwork,
): string[] {
  if (volume?.emptyDir) return [`--tmpfs=${mountPath}:exec,mode=1777`]
  const files = filesOf(volume, place)
  if (!files) throw new Error(`nothing is known to mount at ${mountPath}`)
  // YAML 1.1, which Kubernetes reads, takes 0440 as octal. Only root can give a file to the group.
  const secret = process.getuid?.() === 0 ? volume?.secret : undefined
  const mode = secret ? Number.parseInt(String(secret.defaultMode), 8) : 0o444
  const folder = path.join(temporaryFolder('pod'), 'files')
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  for (const { key, path: name } of volume?.secret?.items ?? itemsOf(files)) {
    const file = path.join(folder, name)
    writeFileSync(file, files[key] ?? '')
    if (secret) chownSync(file, 0, fsGroup ?? 0)
    chmodSync(file, mode)
  }
  const source = path.join(folder, subPath ?? '.')
  return [`--mount=type=bind,source=${source},target=${mountPath},readonly`]
}

/** The content of a volume: of a secret, or of a ConfigMap that the chart renders. */
function filesOf(volume: Volume | undefined, { secrets, manifests }: PodNetwork) {
  if (volume?.secret) return secrets[volume.secret.secretName]
  return manifests.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === volume?.configMap?.name,
  )?.data
}

const itemsOf = (files: Record<string, string>) =>
  Object.keys(files).map((key) => ({ key, path: key }))
