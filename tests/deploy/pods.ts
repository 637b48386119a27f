import { execFile, spawnSync } from 'node:child_process'
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import type { Container, Manifest, Probe } from './chart-fixture.ts'
import { docker } from './images-fixture.ts'
import { mountOf, type PodNetwork } from './pod-files.ts'

// Containers of rendered pods, run with docker: command, environment, files, user, rights, limits and probes as the
// manifest has them. What docker has no equivalent of is scheduling, network policies and service accounts.

/** A limit for hanging only. */
const MAX_READY_MS = 300_000

/** A pod that runs, with one container. */
export interface Pod {
  id: string
  name: string
  graceSeconds: number
  container: Container
  /** Its own address, and its published ports by those of the container. */
  address: string
  published: Record<number, number>
}

/** Runs the containers of a job at once and returns their exit codes by name. */
export async function runJob(job: Manifest, place: PodNetwork): Promise<Record<string, number>> {
  const runs = job.spec.template.spec.containers.map(async (container) => {
    const args = [
      'run',
      '--rm',
      ...optionsOf(job, container, 'job', place),
      ...commandOf(container),
    ]
    const code = await promisify(execFile)('docker', args).then(
      () => 0,
      (error: { code: number }) => error.code,
    )
    return [container.name, code] as const
  })
  return Object.fromEntries(await Promise.all(runs))
}

/** Number of replicas, which another manifest has if they are scaled. */
function replicasOf({ metadata, spec }: Manifest, manifests: Manifest[]): number {
  const scaler = manifests.find(
    (each) => (each.spec?.scaleTargetRef as { name: string } | undefined)?.name === metadata.name,
  )
  const { minReplicas, minReplicaCount } = (scaler?.spec ?? {}) as Record<string, number>
  return spec.replicas ?? minReplicas ?? minReplicaCount ?? 1
}

/** Starts the replicas of a deployment or a stateful set; they are removed with the test. */
export function startPods(manifest: Manifest, place: PodNetwork): Pod[] {
  return Array.from({ length: replicasOf(manifest, place.manifests) }, (_, i) => {
    const [container] = manifest.spec.template.spec.containers as [Container]
    const name = `${manifest.metadata.name}-${i}`
    const ports = (container.ports ?? []).map(
      (port) => `--publish=127.0.0.1::${port.containerPort}`,
    )
    const options = [...ports, ...optionsOf(manifest, container, name, place)]
    // Kubernetes does not run the health check of the image.
    const how = ['run', '--detach', '--no-healthcheck']
    const id = docker(...how, ...options, ...commandOf(container))
    onTestFinished(() => void docker('rm', '--force', '--volumes', id))
    const graceSeconds = manifest.spec.template.spec.terminationGracePeriodSeconds ?? 30
    return { id, name, container, graceSeconds, ...addressesOf(id) }
  })
}

/** Read once: a command of docker costs more than a probe. */
function addressesOf(id: string): Pick<Pod, 'address' | 'published'> {
  const [{ NetworkSettings }] = JSON.parse(docker('inspect', id))
  const [network] = Object.values<{ IPAddress: string }>(NetworkSettings.Networks)
  const ports = Object.entries<{ HostPort: string }[] | null>(NetworkSettings.Ports)
  return {
    address: network?.IPAddress ?? '',
    published: Object.fromEntries(
      ports.map(([port, bound]) => [Number.parseInt(port, 10), Number(bound?.[0]?.HostPort)]),
    ),
  }
}

const commandOf = ({ image, args = [] }: Container) => [image, ...args]

function optionsOf(manifest: Manifest, container: Container, name: string, place: PodNetwork) {
  const pod = manifest.spec.template.spec
  const rights = { ...pod.securityContext, ...container.securityContext }
  const { memory, cpu } = container.resources.limits
  const size = memory?.replace(/i$/, '').toLowerCase()
  return [
    `--network=${place.network}`,
    `--hostname=${name}`,
    ...namesOf(manifest, name, place.manifests).map((alias) => `--network-alias=${alias}`),
    `--user=${rights.runAsUser}:${rights.runAsGroup}`,
    ...(rights.readOnlyRootFilesystem ? ['--read-only'] : []),
    ...(rights.allowPrivilegeEscalation === false ? ['--security-opt=no-new-privileges'] : []),
    ...(rights.capabilities?.drop ?? []).map((capability) => `--cap-drop=${capability}`),
    // Kubernetes gives no swap.
    ...(size ? [`--memory=${size}`, `--memory-swap=${size}`] : []),
    ...(cpu ? [`--cpus=${cpu.endsWith('m') ? Number.parseInt(cpu, 10) / 1_000 : cpu}`] : []),
    ...container.env.map(
      (each) => `--env=${each.name}=${valueOfVariable(each, name, place.secrets)}`,
    ),
    ...(container.volumeMounts ?? []).flatMap((mount) =>
      mountOf(
        pod.volumes?.find((each) => each.name === mount.name),
        mount,
        rights,
        place,
      ),
    ),
  ]
}

/** The names under which a pod is found: those of the services that select it, and its own in a stateful set. */
function namesOf({ kind, spec }: Manifest, pod: string, manifests: Manifest[]): string[] {
  const services = manifests.filter((each) => each.kind === 'Service')
  const labels = spec.template.metadata.labels ?? {}
  const selecting = services.filter(({ spec: { selector } }) =>
    Object.entries(selector as Record<string, string>).every(
      ([key, value]) => labels[key] === value,
    ),
  )
  const names = selecting.map(({ metadata }) => metadata.name)
  return kind === 'StatefulSet' ? [...names, `${pod}.${spec.serviceName}`] : names
}

function valueOfVariable(
  { name, value, valueFrom }: Container['env'][number],
  pod: string,
  secrets: PodNetwork['secrets'],
) {
  if (valueFrom?.fieldRef?.fieldPath === 'metadata.name') return pod
  const ref = valueFrom?.secretKeyRef
  const found = ref ? secrets[ref.name]?.[ref.key] : value
  if (found === undefined) throw new Error(`${name} has no value; key of the secret: ${ref?.key}`)
  return found
}

/**
 * Asks the probes of a pod as often as it says, until it is ready. Throws if Kubernetes would restart it, and if the
 * container ends.
 */
export async function untilReady(pod: Pod): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe } = pod.container
  if (startupProbe) await passed(pod, startupProbe)
  const live = watch(pod, livenessProbe as Probe)
  await Promise.race([live.failed, passed(pod, readinessProbe as Probe)]).finally(live.end)
}

/** Returns when a pod is live. */
export const untilLive = (pod: Pod) => passed(pod, pod.container.livenessProbe as Probe)

/** Returns when a probe passes. */
async function passed(pod: Pod, probe: Probe): Promise<void> {
  const deadline = Date.now() + MAX_READY_MS
  while (!(await isPassed(pod, probe))) {
    if (docker('inspect', '--format', '{{.State.Running}}', pod.id) !== 'true')
      throw new Error(`${pod.name} has ended: ${logOf(pod)}`)
    if (Date.now() > deadline)
      throw new Error(`${pod.name}: ${probe.httpGet.path} never passes: ${logOf(pod)}`)
    await pause(probe.periodSeconds * 1_000)
  }
}

function logOf({ id }: Pod): string {
  const { stdout, stderr } = spawnSync('docker', ['logs', '--tail', '5', id], { encoding: 'utf8' })
  return stdout + stderr
}

function watch(pod: Pod, probe: Probe): { failed: Promise<never>; end(): void } {
  const ended = new AbortController()
  const failed = (async () => {
    for (let failures = 0; failures < probe.failureThreshold; ) {
      failures = (await isPassed(pod, probe)) ? 0 : failures + 1
      await pause(probe.periodSeconds * 1_000, undefined, { signal: ended.signal })
    }
    throw new Error(`${pod.name} would be restarted: ${probe.httpGet.path} fails`)
  })()
  failed.catch(() => {})
  return { failed, end: () => ended.abort() }
}

export function isPassed(pod: Pod, { httpGet, timeoutSeconds }: Probe): Promise<boolean> {
  const port = pod.container.ports?.find(({ name }) => name === httpGet.port)?.containerPort ?? 0
  // Kubernetes asks the address of the pod.
  const headers = { host: `${pod.address}:${port}` }
  const timeout = timeoutSeconds * 1_000
  const [host, published] = ['127.0.0.1', pod.published[port]]
  const target = { host, port: published, path: httpGet.path, headers, timeout }
  return new Promise((resolve) => {
    const request = http.get(target, (response) => {
      response.resume()
      const { statusCode = 0 } = response
      resolve(statusCode >= 200 && statusCode < 400)
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
  })
}

/** Ends a pod as Kubernetes does; returns its exit code, 137 if it had to be killed, with the end of its log unless it is 0. */
export async function stopPod(pod: Pod): Promise<number | string> {
  const { id, graceSeconds } = pod
  await promisify(execFile)('docker', ['stop', '--time', String(graceSeconds), id])
  const code = Number(docker('inspect', '--format', '{{.State.ExitCode}}', id))
  return code === 0 ? code : `${code}: ${logOf(pod)}`
}
