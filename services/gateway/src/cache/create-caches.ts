import type { Settings } from '@windlass/runtime/config/settings'
import type { Clients } from '../clients/connect.ts'
import { GenerationCache } from './generation-cache.ts'
import type { ReadGeneration } from './generation-reader.ts'
import { RefusedTokens } from './refused-tokens.ts'
import { toRunningVersion } from './running-version.ts'
import { UsageReportingCache } from './usage-reporting-cache.ts'

export interface CachesDeps extends Pick<Clients, 'catalog' | 'identity' | 'principals'> {
  /** Generation of the caches of accounts, keys and sessions. */
  readAuth: ReadGeneration
  /** Generation of the caches of workflows. */
  readCatalog: ReadGeneration
}

export type Caches = ReturnType<typeof createCaches>

/** Lookups that are answered from memory while their generation lasts. */
export function createCaches(
  { session_idle_timeout }: Settings['workers'],
  { catalog, identity, principals, readAuth, readCatalog }: CachesDeps,
) {
  const workflows = new GenerationCache('workflows', readCatalog, (key) => {
    const [namespace = '', name = '', version] = key.split('/')
    return catalog.resolve({ namespace, name, version: Number(version) })
  })
  const versions = new GenerationCache('versions', readCatalog, async (id) =>
    toRunningVersion(await catalog.getById({ id })),
  )
  const accounts = new GenerationCache('accounts', readAuth, (key) => {
    const [subject, external_issuer] = JSON.parse(key) as [string, string]
    return principals.resolve({ subject, external_issuer })
  })
  const refusedTokens = new RefusedTokens()
  const checkSession = (token: string) =>
    refusedTokens.check(token, () => identity.checkSession({ token }))
  const sessions = new UsageReportingCache(readAuth, checkSession, {
    name: 'sessions',
    reportIntervalMs: sessionReportIntervalMs(session_idle_timeout),
  })
  return {
    /** A workflow without its source; version 0 is the latest. */
    resolveWorkflow: (namespace: string, name: string, version: number) =>
      workflows.get(`${namespace}/${name}/${version}`),
    /** Namespace, uploader and declared secrets of a version of a workflow, by its id. */
    getRunningVersion: (workflow_id: string) => versions.get(workflow_id),
    /** Current roles and permissions of a principal; `not_found` for an unknown one. */
    getAccount: (subject: string, external_issuer: string) =>
      accounts.get(JSON.stringify([subject, external_issuer])),
    /** The worker session of a token; `unauthenticated` for an unknown or ended one. */
    getSession: (token: string) => sessions.get(token),
  }
}

const HOUR_MS = 3_600_000

/** Often enough that no session in use expires, and rarely enough for thousands of idle workers. */
const sessionReportIntervalMs = (idleS: number) => Math.min(HOUR_MS, (idleS * 1_000) / 4)
