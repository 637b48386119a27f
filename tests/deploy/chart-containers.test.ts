import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { beforeAll, expect, test } from 'vitest'
import { chartObstacle, type Manifest, manifestsOf, podsOf, render } from './chart-fixture.ts'
import { startStores } from './chart-stores.ts'
import {
  buildImages,
  composeObstacle,
  docker,
  IMAGE,
  PROJECT,
  WORKER_IMAGE,
} from './images-fixture.ts'
import { isPassed, type Pod, runJob, startPods, stopPod, untilLive, untilReady } from './pods.ts'

const running = test.skipIf(chartObstacle ?? composeObstacle)
const imageValues = (key: string, image: string) => {
  const [repository, tag] = image.split(':')
  return ['--set', `${key}.repository=${repository},${key}.tag=${tag}`]
}
const IMAGES = [...imageValues('image', IMAGE), ...imageValues('workerImage', WORKER_IMAGE)]

const isWorkers = ({ kind, metadata }: Manifest) =>
  kind === 'Deployment' && metadata.name.startsWith('windlass-worker-')
const isService = (pod: Manifest) => pod.kind !== 'Job' && !isWorkers(pod)

/** Options of a container that calls the gateways. */
function serverOptions(authority: string | undefined): string[] {
  const scheme = authority ? 'https' : 'http'
  const server = `--env=SVC_WORKERS__SERVER_URL=${scheme}://windlass-gateway:8000`
  if (!authority) return [server]
  const file = path.join(temporaryFolder('authority'), 'ca.pem')
  writeFileSync(file, authority)
  chmodSync(path.dirname(file), 0o755)
  return [server, '--env=NODE_EXTRA_CA_CERTS=/ca.pem', `--volume=${file}:/ca.pem:ro`]
}

beforeAll(() => {
  if (!(chartObstacle ?? composeObstacle)) buildImages()
})

/** Values in place of those that this machine does not have: the images, and one registry, of the examples. */
const SETS = [
  { set: 'small', pods: 8, values: [], stores: { natsServers: 1, hasTls: false } },
  { set: 'ha', pods: 18, values: [], stores: { natsServers: 3, hasTls: true } },
  {
    set: 'multi-zone',
    pods: 25,
    values: imageValues('workers[1].image', WORKER_IMAGE),
    stores: { natsServers: 3, hasTls: false },
  },
] as const

running.each(SETS)(
  'containers of the set $set with their rights, probes and limits: run a workflow',
  async ({ set, values, ...expected }) => {
    const manifests = manifestsOf(render(set, [...IMAGES, ...values]))
    const place = { ...(await startStores(expected.stores)), manifests }
    const pods = podsOf(manifests)

    const [job] = pods.filter(({ kind }) => kind === 'Job')
    expect(job && (await runJob(job, place))).toEqual({
      identity: 0,
      catalog: 0,
      executions: 0,
      dispatcher: 0,
      scheduler: 0,
    })

    // One after another, so that a busy machine does not start all programs at once. Workers open their port when
    // they are registered.
    const started: Pod[] = []
    for (const pod of pods.filter(isService)) {
      const replicas = startPods(pod, place)
      for (const each of replicas) await untilLive(each)
      started.push(...replicas)
    }
    started.push(...pods.filter(isWorkers).flatMap((pod) => startPods(pod, place)))
    expect(started).toHaveLength(expected.pods)
    await Promise.all(started.map(untilReady))

    const identity = started.find(({ container }) => container.name === 'identity')?.id as string
    const key = docker(
      'exec',
      identity,
      'node',
      '/app/entry.mjs',
      'windlass',
      'admin',
      'create-key',
    )
    const windlass = (...args: string[]) =>
      docker(
        ...['run', '--rm', `--network=${place.network}`, `--env=SVC_AUTH_TOKEN=${key}`],
        ...serverOptions(place.secrets['windlass-gateway-tls']?.['ca.crt']),
        `--volume=${path.join(PROJECT, 'examples')}:/examples:ro`,
        ...[IMAGE, 'windlass', ...args],
      )
    windlass('workflow', 'upload', '/examples/hello_world.py')
    expect(windlass('workflow', 'run', 'hello_world', '"chart"')).toContain('"Hello, chart"')

    for (const pod of started) {
      for (const probe of [pod.container.livenessProbe, pod.container.readinessProbe])
        expect(probe && (await isPassed(pod, probe)), pod.name).toBe(true)
    }
    // Workers first: they deregister at a gateway.
    const isWorker = ({ container }: { container: { name: string } }) => container.name === 'worker'
    for (const part of [started.filter(isWorker), started.filter((pod) => !isWorker(pod))]) {
      const codes = await Promise.all(part.map(stopPod))
      expect(Object.fromEntries(part.map(({ name }, i) => [name, codes[i]]))).toEqual(
        Object.fromEntries(part.map(({ name }) => [name, 0])),
      )
    }
  },
)
