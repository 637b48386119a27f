import { randomBytes } from 'node:crypto'
import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { freshDatabase, openTestDb, testUrl } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { clientOf } from '@windlass/testkit/service-identity'
import { onTestFinished } from 'vitest'
import { start } from '../src/server.ts'
import { workerUrl } from './analysis-fixture.ts'

/** Starts a catalog with its own database, a client and a unique namespace. */
export async function setup(env: Record<string, string> = {}) {
  const url = await freshDatabase('catalog', new URL('../migrations/', import.meta.url))
  // One of sixteen Redis databases: other tests rarely replace the generation of the same one.
  const redis = `${testUrl('TEST_REDIS_URL')}/${1 + (randomBytes(1).readUInt8() % 15)}`
  const serve = async (more: Record<string, string> = {}) => {
    const { ports, stop } = await startService(
      (settings, runtime) => start(settings, runtime, workerUrl),
      {
        SVC_POSTGRES__URL: url,
        SVC_NATS__URL: testUrl('TEST_NATS_URL'),
        SVC_REDIS__URL: redis,
        ...env,
        ...more,
      },
    )
    const client = clientOf(CatalogService, [`127.0.0.1:${ports.grpc}`])
    onTestFinished(() => client.close())
    return { client, stop }
  }
  const db = openTestDb(url, 'catalog')
  const namespace = `n${randomBytes(6).toString('hex')}`
  return { ...(await serve()), serve, db, redis, namespace }
}

/** Creates the source of workflows with these names. */
export const sourceOf = (namespace: string, ...names: string[]): Buffer =>
  Buffer.from(
    `from windlass import workflow\n${names
      .map(
        (name) =>
          `\n@workflow.with_options(name="${name}", namespace="${namespace}")\nasync def f_${Buffer.from(name).toString('hex')}(ctx):\n    return ctx.input\n`,
      )
      .join('')}`,
  )

/** Creates the request of an anonymous upload. */
export const uploadOf = (source: Buffer) => ({ source, if_changed: false })
