import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { chartObstacle, manifestsOf, podsOf, render } from './chart-fixture.ts'
import { type ComposeProject, composeProject } from './compose-fixture.ts'
import {
  buildImages,
  composeObstacle,
  docker,
  IMAGE,
  PROJECT,
  WORKER_IMAGE,
} from './images-fixture.ts'
import { isPassed, runJob, startPods, stopPod, untilReady } from './pods.ts'

const running = test.skipIf(chartObstacle ?? composeObstacle)
const STORES = {
  POSTGRES: 'postgres:5432/windlass',
  NATS: 'nats://nats:4222',
  REDIS: 'redis://redis:6379',
}
const imageValues = (key: string, image: string) => {
  const [repository, tag] = image.split(':')
  return ['--set', `${key}.repository=${repository},${key}.tag=${tag}`]
}
const IMAGES = [...imageValues('image', IMAGE), ...imageValues('workerImage', WORKER_IMAGE)]

beforeAll(() => {
  if (!(chartObstacle ?? composeObstacle)) buildImages()
})

/** Starts the stores of compose.yml; returns their network and the secret for the chart. */
function startStores({ name, sh, containers }: ComposeProject) {
  sh('deploy/secrets.sh')
  sh('docker compose -f deploy/compose.yml --profile stores up --detach --wait')
  expect(
    containers()
      .map(({ Service }) => Service)
      .sort(),
  ).toEqual(['nats', 'postgres', 'redis'])
  const secret = parse(sh('deploy/helm/secret.sh deploy/.env', STORES)).stringData
  return { network: `${name}_stores`, secret: secret as Record<string, string> }
}

running('rendered containers with their rights, probes and limits: run a workflow', async () => {
  const stores = startStores(await composeProject())
  const manifests = manifestsOf(render('small', IMAGES))
  const place = { ...stores, services: manifests.filter(({ kind }) => kind === 'Service') }
  const pods = podsOf(manifests)

  const [job] = pods.filter(({ kind }) => kind === 'Job')
  expect(job && (await runJob(job, place))).toEqual({
    identity: 0,
    catalog: 0,
    executions: 0,
    dispatcher: 0,
    scheduler: 0,
  })

  const started = pods.filter(({ kind }) => kind !== 'Job').flatMap((pod) => startPods(pod, place))
  expect(started).toHaveLength(8)
  await Promise.all(started.map(untilReady))

  const identity = started.find(({ container }) => container.name === 'identity')?.id as string
  const key = docker('exec', identity, 'node', '/app/entry.mjs', 'windlass', 'admin', 'create-key')
  const windlass = (...args: string[]) =>
    docker(
      ...['run', '--rm', `--network=${place.network}`, `--env=SVC_AUTH_TOKEN=${key}`],
      '--env=SVC_WORKERS__SERVER_URL=http://windlass-gateway:8000',
      `--volume=${path.join(PROJECT, 'examples')}:/examples:ro`,
      ...[IMAGE, 'windlass', ...args],
    )
  windlass('workflow', 'upload', '/examples/hello_world.py')
  expect(windlass('workflow', 'run', 'hello_world', '"chart"')).toContain('"Hello, chart"')

  for (const pod of started) {
    for (const probe of [pod.container.livenessProbe, pod.container.readinessProbe])
      expect(probe && (await isPassed(pod, probe)), pod.name).toBe(true)
  }
  // A worker leaves while there are gateways to tell.
  const isWorker = ({ container }: { container: { name: string } }) => container.name === 'worker'
  for (const part of [started.filter(isWorker), started.filter((pod) => !isWorker(pod))]) {
    const codes = await Promise.all(part.map(stopPod))
    expect(Object.fromEntries(part.map(({ name }, i) => [name, codes[i]]))).toEqual(
      Object.fromEntries(part.map(({ name }) => [name, 0])),
    )
  }
})
