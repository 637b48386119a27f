import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { type ApiRequest, createApiClient } from '@windlass/api-client/http-client'
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers'

/** Names of the images. */
export interface WindlassImages {
  windlass: string
  worker: string
  postgres: string
  nats: string
  redis: string
}

const IMAGES: WindlassImages = {
  windlass: 'windlass:0.1.0',
  worker: 'windlass-worker:0.1.0',
  postgres: 'postgres:17',
  nats: 'nats:2',
  redis: 'redis:8',
}
const NAME = 'windlass'
const SERVER = 'server'
const PORT = 8_000
const FLOWS = '/flows'
const START_MS = 120_000
const STOP_MS = 20_000
const POLL_MS = 250
const RUN_MS = 60_000
/** Number of lines of a worker's output that an error shows. */
const SHOWN_LINES = 20

/** Sends a request of the public API as administrator and returns the JSON text of the answer. */
export interface AdminClient {
  call(request: ApiRequest): Promise<string>
}

/**
 * A Windlass system in containers: stores, all services in one container, and a worker for each folder. It
 * needs a container engine that has the images or can pull them.
 */
export class WindlassContainer {
  readonly #images: WindlassImages
  readonly #folders: string[] = []

  constructor(images: Partial<WindlassImages> = {}) {
    this.#images = { ...IMAGES, ...images }
  }

  /**
   * Adds a Python worker, with a folder on its import path. The workflows of each .py file directly in it are
   * registered.
   */
  withWorker(folder: string): this {
    this.#folders.push(path.resolve(folder))
    return this
  }

  /**
   * Starts everything and returns when the workers are online. If the start fails, whatever was started is
   * removed; the error for a worker that ended contains its last lines.
   */
  async start(): Promise<StartedWindlass> {
    const network = await new Network().start()
    const started = new StartedContainers(network)
    try {
      const token = randomBytes(24).toString('hex')
      const server = await this.#startServer(started, network, token)
      const adminKey = await createAdminKey(server)
      const windlass = new StartedWindlass(urlOf(server), adminKey, started)
      const ends: Promise<never>[] = []
      for (const folder of this.#folders) {
        await registerWorkflows(windlass.client, folder)
        ends.push(endOf(await started.start(this.#worker(network, token, folder)), folder))
      }
      await Promise.race([untilOnline(windlass.client, this.#folders.length), ...ends])
      return windlass
    } catch (error) {
      await started.stop()
      throw error
    }
  }

  async #startServer(started: StartedContainers, network: StartedNetwork, token: string) {
    const password = randomBytes(16).toString('hex')
    const { postgres, nats, redis } = this.#images
    const stores = [
      new GenericContainer(postgres)
        .withEnvironment({ POSTGRES_USER: NAME, POSTGRES_DB: NAME, POSTGRES_PASSWORD: password })
        .withTmpFs({ '/var/lib/postgresql/data': 'rw' })
        .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=200'])
        .withNetworkAliases('postgres')
        // The temporary server that initializes the database prints the same line. A health check would run
        // until the end, and each run costs the engine tens of milliseconds of processor time.
        .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2)),
      new GenericContainer(nats)
        .withCommand(['-js', '--user', NAME, '--pass', password])
        .withNetworkAliases('nats')
        .withWaitStrategy(Wait.forLogMessage(/Server is ready/)),
      new GenericContainer(redis)
        .withCommand(['redis-server', '--requirepass', password, '--save', ''])
        .withNetworkAliases('redis')
        .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/)),
    ]
    await Promise.all(stores.map((store) => started.start(store.withNetwork(network))))
    return started.start(
      new GenericContainer(this.#images.windlass)
        .withCommand(['all'])
        .withEnvironment({
          SVC_SECURITY__AUTH__ENABLED: 'true',
          SVC_WORKERS__BOOTSTRAP_TOKEN: token,
          SVC_SERVER__ALLOWED_HOSTS: SERVER,
          SVC_POSTGRES__URL: `postgres://${NAME}:${password}@postgres:5432/${NAME}`,
          SVC_NATS__URL: `nats://${NAME}:${password}@nats:4222`,
          SVC_REDIS__URL: `redis://:${password}@redis:6379`,
        })
        .withNetwork(network)
        .withNetworkAliases(SERVER)
        .withExposedPorts(PORT)
        .withStartupTimeout(START_MS)
        .withWaitStrategy(Wait.forHttp('/ready', PORT).forStatusCode(200)),
    )
  }

  #worker(network: StartedNetwork, token: string, folder: string): GenericContainer {
    return new GenericContainer(this.#images.worker)
      .withEnvironment({
        SVC_WORKER__SERVER_URL: `http://${SERVER}:${PORT}`,
        SVC_WORKER__INSECURE: 'true',
        SVC_WORKER__PATH: FLOWS,
        SVC_WORKERS__BOOTSTRAP_TOKEN: token,
      })
      .withCopyDirectoriesToContainer([{ source: folder, target: FLOWS }])
      .withNetwork(network)
  }
}

/** A running system. */
export class StartedWindlass {
  /** Base URL of the API. */
  readonly url: string
  /** An API key with the role admin. */
  readonly adminKey: string
  readonly client: AdminClient
  readonly #containers: StartedContainers

  constructor(url: string, adminKey: string, containers: StartedContainers) {
    this.url = url
    this.adminKey = adminKey
    this.#containers = containers
    const api = createApiClient(url)
    const authorization = `Bearer ${adminKey}`
    const signal = new AbortController().signal
    this.client = { call: (request) => api.call(request, { authorization, signal }) }
  }

  /** Runs a workflow of the namespace `default` with JSON text, and returns the JSON text of its execution at the end. */
  run(workflow: string, input = 'null'): Promise<string> {
    const name = encodeURIComponent(workflow)
    return this.client.call({
      method: 'POST',
      path: `/workflows/default/${name}/run/sync`,
      body: input,
      timeoutMs: RUN_MS,
    })
  }

  /** Stops and removes all containers and their network. */
  stop(): Promise<void> {
    return this.#containers.stop()
  }
}

/** Containers in the order of their start, and their network. */
class StartedContainers {
  readonly #network: StartedNetwork
  readonly #containers: StartedTestContainer[] = []

  constructor(network: StartedNetwork) {
    this.#network = network
  }

  async start(container: GenericContainer): Promise<StartedTestContainer> {
    const started = await container.start()
    this.#containers.unshift(started)
    return started
  }

  /** Workers leave before the services, and these before the stores. */
  async stop(): Promise<void> {
    for (const container of this.#containers.splice(0)) await container.stop({ timeout: STOP_MS })
    await this.#network.stop()
  }
}

const urlOf = (server: StartedTestContainer) =>
  `http://${server.getHost()}:${server.getMappedPort(PORT)}`

async function createAdminKey(server: StartedTestContainer): Promise<string> {
  const command = ['node', '/app/entry.mjs', 'windlass', 'admin', 'create-key']
  const { exitCode, output, stdout } = await server.exec(command)
  if (exitCode !== 0) throw new Error(`no admin key: ${output}`)
  return stdout.trim()
}

async function registerWorkflows(client: AdminClient, folder: string): Promise<void> {
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith('.py'))
    .sort()) {
    const body = new FormData()
    const source = readFileSync(path.join(folder, name))
    body.set('file', new Blob([source], { type: 'text/x-python' }), name)
    await client.call({ method: 'POST', path: '/workflows', body })
  }
}

/** Rejects with the last lines of a worker's output when its container ends, as its log shows. */
function endOf(worker: StartedTestContainer, folder: string): Promise<never> {
  const lines: string[] = []
  const ended = (async () => {
    for await (const line of createInterface({ input: await worker.logs() })) {
      lines.push(line)
      if (lines.length > SHOWN_LINES) lines.shift()
    }
    throw new Error(`the worker of ${folder} ended before it was online:\n${lines.join('\n')}`)
  })()
  // It also ends with the system, when nothing waits for it.
  ended.catch(() => {})
  return ended
}

async function untilOnline(client: AdminClient, count: number): Promise<void> {
  const deadline = Date.now() + START_MS
  for (;;) {
    const workers = JSON.parse(await client.call({ method: 'GET', path: '/workers' })) as {
      status: string
    }[]
    if (workers.filter(({ status }) => status === 'online').length >= count) return
    if (Date.now() > deadline) throw new Error(`no worker is online after ${START_MS / 1_000} s`)
    await pause(POLL_MS)
  }
}
