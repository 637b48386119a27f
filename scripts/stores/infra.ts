import path from 'node:path'
import type { Processes } from '../process/processes.ts'
import { ensurePrograms, type Program, STORES } from '../setup/packages.ts'
import { postgresFolders, requireProgram } from '../setup/programs.ts'
import type { Progress } from '../setup/progress.ts'
import { run } from '../setup/run.ts'
import { startNats } from './nats.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import type { Infra, StartedStore } from './store.ts'

interface InfraOptions {
  processes: Processes
  dir: string
  progress: Progress
  /** Prefixes of the NATS subjects that services may use. */
  prefixes: string[]
  durable?: boolean
}

/**
 * Returns PostgreSQL, NATS and Redis as `{ url, child }` each: private ones in a data directory,
 * installed if missing, or those that the environment names, which run elsewhere and have no child.
 */
export async function startInfra({
  processes,
  dir,
  progress,
  prefixes,
  durable = true,
}: InfraOptions): Promise<Infra> {
  const given = givenInfra()
  if (given) return given
  await ensurePrograms(progress, neededForInfra())
  return progress.step('Starting PostgreSQL, NATS and Redis', async () => {
    const starts = [
      startPostgres(processes, dir, { durable }),
      startNats(processes, dir, { prefixes }),
      startRedis(processes, dir),
    ] as const
    const settled = await Promise.allSettled<StartedStore>(starts)
    const failed = settled.find((start) => start.status === 'rejected')
    if (failed) throw failed.reason
    const [postgres, nats, redis] = await Promise.all(starts)
    progress.note(`  ${(await versions()).join(', ')}`)
    return { postgres, nats, redis }
  })
}

/** Versions of the programs, as they print them. */
function versions(): Promise<string[]> {
  const [folder = ''] = postgresFolders()
  const programs = [
    path.join(folder, 'postgres'),
    requireProgram('nats-server'),
    requireProgram('redis-server'),
  ]
  return Promise.all(programs.map((program) => run(program, ['--version'])))
}

/** Programs that must be installed before `startInfra`: none if the environment names the stores. */
export const neededForInfra = (): readonly Program[] => (givenInfra() ? [] : STORES)

/** Requires all three URLs or none: a private store must not be combined with external ones. */
function givenInfra(): Infra | undefined {
  const { SVC_POSTGRES__URL, SVC_NATS__URL, SVC_REDIS__URL } = process.env
  if (!(SVC_POSTGRES__URL && SVC_NATS__URL && SVC_REDIS__URL)) return undefined
  const [postgres, nats, redis] = [SVC_POSTGRES__URL, SVC_NATS__URL, SVC_REDIS__URL]
  return { postgres: { url: postgres }, nats: { url: nats }, redis: { url: redis } }
}

/** Returns the environment variables through which tests find their infrastructure. */
export function testEnv({ postgres, nats, redis }: Infra): Record<string, string> {
  return {
    // NATS and Redis have a user for each service, with a password derived from the administrator's.
    ...(nats.urlOf && redis.urlOf && { TEST_SERVICE_USERS: '1' }),
    TEST_POSTGRES_URL: postgres.url,
    TEST_NATS_URL: nats.url,
    TEST_REDIS_URL: redis.url,
  }
}
