import { execFile } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { temporaryFolder } from '@windlass/testkit/folder'
import { onTestFinished } from 'vitest'
import type { Container, Manifest, Probe, Volume } from './chart-fixture.ts'
import { docker } from './images-fixture.ts'

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
}
export interface PodNetwork {
  network: string
  /** Values of the secret to which the chart refers. */
  secret: Record<string, string>
  services: Manifest[]
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

/** Starts the replicas of a deployment or a stateful set; they are removed with the test. */
export function startPods(manifest: Manifest, place: PodNetwork): Pod[] {
  return Array.from({ length: manifest.spec.replicas ?? 1 }, (_, i) => {
    const [container] = manifest.spec.template.spec.containers as [Container]
    const name = `${manifest.metadata.name}-${i}`
    const ports = (container.ports ?? []).map(
      (port) => `--publish=127.0.0.1::${port.containerPort}`,
    )
    const options = [...ports, ...optionsOf(manifest, container, name, place)]
    const id = docker('run', '--detach', ...options, ...commandOf(container))
    onTestFinished(() => void docker('rm', '--force', '--volumes', id))
    const graceSeconds = manifest.spec.template.spec.terminationGracePeriodSeconds ?? 30
    return { id, name, container, graceSeconds }
  })
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
    ...namesOf(manifest, name, place.services).map((alias) => `--network-alias=${alias}`),
    `--user=${rights.runAsUser}:${rights.runAsGroup}`,
    ...(rights.readOnlyRootFilesystem ? ['--read-only'] : []),
    ...(rights.allowPrivilegeEscalation === false ? ['--security-opt=no-new-privileges'] : []),
    ...(rights.capabilities?.drop ?? []).map((capability) => `--cap-drop=${capability}`),
    // Kubernetes gives no swap.
    ...(size ? [`--memory=${size}`, `--memory-swap=${size}`] : []),
    ...(cpu ? [`--cpus=${cpu.endsWith('m') ? Number.parseInt(cpu, 10) / 1_000 : cpu}`] : []),
    ...container.env.map(
      (each) => `--env=${each.name}=${valueOfVariable(each, name, place.secret)}`,
    ),
    ...(container.volumeMounts ?? []).flatMap(({ name: volume, mountPath }) =>
      mountOf(
        pod.volumes?.find((each) => each.name === volume),
        mountPath,
        rights,
        place.secret,
      ),
    ),
  ]
}

/** The names under which a pod is found: those of the services that select it, and its own in a stateful set. */
function namesOf({ kind, spec }: Manifest, pod: string, services: Manifest[]): string[] {
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
  secret: object,
) {
  if (valueFrom?.fieldRef?.fieldPath === 'metadata.name') return pod
  const key = valueFrom?.secretKeyRef?.key
  const found = key === undefined ? value : (secret as Record<string, string>)[key]
  if (found === undefined) throw new Error(`${name} has no value; key of the secret: ${key}`)
  return found
}

function mountOf(
  volume: Volume | undefined,
  target: string,
  { fsGroup }: { fsGroup?: number },
  secret: Record<string, string>,
): string[] {
  if (volume?.emptyDir) return [`--tmpfs=${target}:exec,mode=1777`]
  if (!volume?.secret) throw new Error(`nothing is known to mount at ${target}`)
  const folder = path.join(temporaryFolder('pod'), 'secret')
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  for (const { key, path: name } of volume.secret.items ?? []) {
    const file = path.join(folder, name)
    writeFileSync(file, secret[key] ?? '')
    // YAML 1.1, which Kubernetes reads, takes 0440 as octal. Only root can give the file to the group.
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(file, 0, fsGroup ?? 0)
    chmodSync(file, isRoot ? Number.parseInt(String(volume.secret.defaultMode), 8) : 0o444)
  }
  return [`--mount=type=bind,source=${folder},target=${target},readonly`]
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

/** Returns when a probe passes. */
async function passed(pod: Pod, probe: Probe): Promise<void> {
  const deadline = Date.now() + MAX_READY_MS
  while (!(await isPassed(pod, probe))) {
    if (Date.now() > deadline) throw new Error(`${pod.name}: ${probe.httpGet.path} never passes`)
    if (docker('inspect', '--format', '{{.State.Running}}', pod.id) !== 'true')
      throw new Error(`${pod.name} has ended: ${docker('logs', '--tail', '3', pod.id)}`)
    await pause(probe.periodSeconds * 1_000)
  }
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
  const port = pod.container.ports?.find(({ name }) => name === httpGet.port)?.containerPort
  const published = docker('port', pod.id, String(port)).split(':').at(-1)
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}'
  // Kubernetes asks the address of the pod.
  const headers = { host: `${docker('inspect', '--format', format, pod.id)}:${port}` }
  const timeout = timeoutSeconds * 1_000
  const target = { host: '127.0.0.1', port: published, path: httpGet.path, headers, timeout }
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

/** Ends a pod as Kubernetes does; returns its exit code, 137 if it had to be killed. */
export async function stopPod({ id, graceSeconds }: Pod): Promise<number> {
  await promisify(execFile)('docker', ['stop', '--time', String(graceSeconds), id])
  return Number(docker('inspect', '--format', '{{.State.ExitCode}}', id))
}
