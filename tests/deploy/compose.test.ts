import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { blockWith, composeProject, inlineWith } from './compose-fixture.ts'
import { buildImages, composeObstacle, docker } from './images-fixture.ts'

const composing = test.skipIf(composeObstacle)
const BUILD = 'docker compose -f deploy/compose.yml build\n'
const UP = 'docker compose -f deploy/compose.yml up --detach --wait'
const KEY =
  'docker compose -f deploy/compose.yml run --rm --no-deps identity windlass admin create-key'

beforeAll(() => {
  if (!composeObstacle) buildImages()
})

composing('the commands of docs/operations.md: a healthy system runs a workflow', async () => {
  const { folder, name, port, sh, containers } = await composeProject()
  const block = blockWith('npx windlass workflow run')
  expect(block).toContain(BUILD)
  const url = `http://127.0.0.1:${port}`
  const answer = sh(block.replace(BUILD, ''), { SVC_WORKERS__SERVER_URL: url })
  expect(answer).toContain('"output":"Hello, World"')

  const all = containers()
  const migrations = all.filter(({ Service }) => Service.startsWith('migrate-'))
  expect(migrations).toHaveLength(5)
  for (const { Service, State, ExitCode } of migrations)
    expect([Service, State, ExitCode]).toEqual([Service, 'exited', 0])
  const others = all.filter((each) => !migrations.includes(each))
  // The image of NATS may contain nothing that could check it.
  for (const { Service, State, Health } of others.filter(({ Service }) => Service !== 'nats'))
    expect([Service, State, Health]).toEqual([Service, 'running', 'healthy'])
  const names = others.map(({ Service }) => Service)
  for (const service of ['gateway', 'executions'])
    expect(names.filter((each) => each === service)).toHaveLength(2)

  expect(reaches(name, 'worker', 'balancer', 8_000)).toBe('reached')
  for (const [host, store] of [
    ['postgres', 5_432],
    ['nats', 4_222],
    ['redis', 6_379],
    ['identity', 9_000],
  ] as const)
    expect(reaches(name, 'worker', host, store), host).toBe('unknown')

  // One gateway stops, and each request without a key is refused by one that serves; /ready would say that it stops.
  const statuses = new Set<number>()
  let isStopped = false
  const { ID } = all.find(({ Service }) => Service === 'gateway') as { ID: string }
  const stop = promisify(execFile)('docker', ['stop', ID]).finally(() => {
    isStopped = true
  })
  do statuses.add(await statusOf(`${url}/workers`))
  while (!isStopped)
  await stop
  expect([...statuses]).toEqual([401])
  expect(docker('inspect', '--format', '{{.State.ExitCode}}', ID)).toBe('0')

  // The command line of the image, then another start: the volumes have what was uploaded.
  const key = sh(KEY).trim()
  sh(blockWith('mcp windlass workflow upload'), { SVC_AUTH_TOKEN: key })
  expect(sh(inlineWith('exec executions'))).toBe('')
  sh(inlineWith('SIGUSR2'))
  expect(sh('docker compose -f deploy/compose.yml logs executions')).toContain('log level changed')
  sh(inlineWith(' down'))
  expect(containers()).toEqual([])
  sh(UP)
  const again = sh(`npx windlass workflow run hello_world '"again"'`, {
    SVC_AUTH_TOKEN: key,
    SVC_WORKERS__SERVER_URL: url,
  })
  expect(again).toContain('"output":"Hello, again"')

  // TLS in addition, for the same volumes.
  sh(blockWith('deploy/compose.tls.yml'))
  const ca = path.join(folder, 'deploy/tls/ca.pem')
  const secure = sh(
    `export SVC_AUTH_TOKEN=$(${KEY})\nnpx windlass workflow run hello_world '"TLS"'`,
    {
      SVC_WORKERS__SERVER_URL: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: ca,
    },
  )
  expect(secure).toContain('"output":"Hello, TLS"')
  expect(await statusOf(`${url}/ready`)).toBe(0)
})

composing.each(['WINDLASS_ENCRYPTION_KEY', 'WINDLASS_KEY_GATEWAY_CATALOG'])(
  '.env without %s: is refused with its name and the script that makes it',
  async (variable) => {
    const { folder, sh } = await composeProject()
    sh('deploy/secrets.sh')
    sh(`grep -q '^${variable}=' deploy/.env && sed -i '/^${variable}=/d' deploy/.env`)
    const args = ['compose', '-f', 'deploy/compose.yml', 'config', '--quiet']
    const { status, stderr } = spawnSync('docker', args, { cwd: folder, encoding: 'utf8' })
    expect(status).not.toBe(0)
    expect(stderr).toContain(`${variable} is missing a value: run deploy/secrets.sh`)
  },
)

async function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  )
}

/** Tells whether a container of a project resolves the name of another one and connects to its port. */
function reaches(project: string, service: string, host: string, port: number): string {
  const id = docker(
    ...['ps', '--quiet', '--filter', `label=com.docker.compose.project=${project}`],
    ...['--filter', `label=com.docker.compose.service=${service}`],
  )
  const program = [
    'import socket',
    'try:',
    `  socket.create_connection(("${host}", ${port}), 5).close()`,
    '  print("reached")',
    'except socket.gaierror:',
    '  print("unknown")',
  ].join('\n')
  return docker('exec', id, 'python', '-c', program)
}
