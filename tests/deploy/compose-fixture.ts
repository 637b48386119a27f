import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { images } from '@windlass/testkit/infra-engine'
import { freePort } from '@windlass/testkit/ports'
import { expect, onTestFinished } from 'vitest'
import { BALANCER_IMAGE, docker, IMAGE, PROJECT, WORKER_IMAGE } from './images-fixture.ts'

export interface ComposeProject {
  /** A folder with copies of `deploy` and `examples`, where the commands of docs/operations.md run. */
  folder: string
  name: string
  port: number
  /** Runs a script in the folder with the environment of the project; returns its standard output. */
  sh(script: string, more?: Record<string, string>): string
  containers(): ComposeContainer[]
}
interface ComposeContainer {
  ID: string
  Service: string
  State: string
  Health: string
  ExitCode: number
}

/** Creates a folder and a name for a system of compose.yml, which is removed with the test. */
export async function composeProject(): Promise<ComposeProject> {
  const folder = temporaryFolder('compose')
  for (const each of ['deploy', 'examples'])
    cpSync(path.join(PROJECT, each), path.join(folder, each), { recursive: true })
  // For `npx windlass`.
  symlinkSync(path.join(PROJECT, 'node_modules'), path.join(folder, 'node_modules'))
  const name = `windlass-test-${randomBytes(4).toString('hex')}`
  const port = await freePort()
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    COMPOSE_PROJECT_NAME: name,
    WINDLASS_IMAGE: IMAGE,
    WINDLASS_WORKER_IMAGE: WORKER_IMAGE,
    WINDLASS_POSTGRES_IMAGE: images.postgres,
    WINDLASS_NATS_IMAGE: images.nats,
    WINDLASS_REDIS_IMAGE: images.redis,
    WINDLASS_BALANCER_IMAGE: BALANCER_IMAGE,
    WINDLASS_PORT: String(port),
    // Drawn by the engine.
    WINDLASS_MCP_PORT: '0',
    WINDLASS_POSTGRES_PORT: '0',
    WINDLASS_NATS_PORT: '0',
    WINDLASS_REDIS_PORT: '0',
  }
  const sh = (script: string, more: Record<string, string> = {}) => {
    const options = { cwd: folder, encoding: 'utf8', env: { ...env, ...more } } as const
    const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', script], options)
    expect(status, `${script}\n${stdout}\n${stderr}`).toBe(0)
    return stdout
  }
  const labelled = ['--filter', `label=com.docker.compose.project=${name}`]
  onTestFinished(() => {
    for (const [kind, list, remove] of [
      ['container', ['ls', '--all'], ['rm', '--force', '--volumes']],
      ['network', ['ls'], ['rm']],
      ['volume', ['ls'], ['rm']],
    ] as const) {
      const ids = docker(kind, ...list, '--quiet', ...labelled)
        .split('\n')
        .filter(Boolean)
      if (ids.length > 0) docker(kind, ...remove, ...ids)
    }
  })
  const containers = () =>
    sh('docker compose -f deploy/compose.yml ps --all --format json')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as ComposeContainer)
  return { folder, name, port, sh, containers }
}

/** A block of commands of docs/operations.md that contains these words. */
export function blockWith(words: string): string {
  const page = readFileSync(path.join(PROJECT, 'docs/operations.md'), 'utf8')
  const block = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].find(([, text]) =>
    text?.includes(words),
  )
  expect(block, words).toBeDefined()
  return block?.[1] as string
}

/** A command of compose within the text of docs/operations.md that contains these words. */
export function inlineWith(words: string): string {
  const page = readFileSync(path.join(PROJECT, 'docs/operations.md'), 'utf8')
  const found = [...page.matchAll(/`(docker compose [^`]+)`/g)].find(([, text]) =>
    text?.includes(words),
  )
  expect(found, words).toBeDefined()
  return found?.[1] as string
}
