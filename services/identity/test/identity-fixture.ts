import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService, WorkerTokensService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { ViewsService } from '@windlass/proto/windlass/identity/v1/views'
import { migrate } from '@windlass/runtime/postgres/migrate'
import { emptyDatabase, freshDatabase, openTestDb, testUrl } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { clientOf } from '@windlass/testkit/service-identity'
import { onTestFinished } from 'vitest'
import { start } from '../src/server.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** Creates a database with an installation salt of its own; copies of the template have that of the template. */
export async function newInstallation(): Promise<string> {
  const database = await emptyDatabase()
  await migrate(database, 'identity', MIGRATIONS)
  return database
}

/**
 * A new database, any number of replicas that use it, and their log. Clients of the replicas call
 * without a caller by default.
 */
export async function startIdentity(
  options: Parameters<typeof clientOf>[2] = {},
  { database: given }: { database?: string } = {},
) {
  const database = given ?? (await freshDatabase('identity', MIGRATIONS))
  const db = openTestDb(database, 'identity')
  const logs: (() => string)[] = []
  const replica = async (env: Record<string, string> = {}) => {
    const { ports, stop, logged } = await startService(start, {
      SVC_POSTGRES__URL: database,
      SVC_REDIS__URL: testUrl('TEST_REDIS_URL'),
      SVC_WORKERS__BOOTSTRAP_TOKEN: 'unused',
      ...env,
    })
    logs.push(logged)
    const address = [`127.0.0.1:${ports.grpc}`]
    const clients = {
      audit: clientOf(AuditService, address, options),
      views: clientOf(ViewsService, address, options),
      principals: clientOf(PrincipalsService, address, options),
      keys: clientOf(ApiKeysService, address, options),
      roles: clientOf(RolesService, address, options),
      secrets: clientOf(SecretsService, address, options),
      configs: clientOf(ConfigsService, address, options),
      workerTokens: clientOf(WorkerTokensService, address, options),
      identity: clientOf(IdentityService, address, options),
    }
    onTestFinished(() => {
      for (const client of Object.values(clients)) client.close()
    })
    return { ...clients, stop }
  }
  return { database, db, replica, log: () => logs.map((logged) => logged()).join('') }
}
