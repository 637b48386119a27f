import type { Readiness } from '@windlass/runtime/admin/readiness'
import { VERSION } from '@windlass/runtime/version'
import { z } from 'zod'
import type { Health } from '../clients/health-client.ts'
import { send } from '../http/response.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'

type Deps = { health: Health; readiness: Pick<Readiness, 'isStopping'> }

const HealthView = z
  .object({ status: z.string(), database: z.boolean(), version: z.string() })
  .meta({ id: 'Health' })

const ReadyView = z.object({ status: z.string(), database: z.boolean() }).meta({ id: 'Ready' })

/** Unhealthy is a result and not a refusal: it has the same format. */
const report = (isWell: boolean, view: object) =>
  new StreamedResponse(async (ctx) =>
    send(ctx, { status: isWell ? 200 : 503, type: 'application/json', text: JSON.stringify(view) }),
  )

export const getHealth = route('get', '/health', {
  summary: 'Report whether the service is healthy',
  access: 'public',
  returns: HealthView,
  async handle(_, { health }: Deps) {
    const database = await health.isHealthy()
    const status = database ? 'healthy' : 'unhealthy'
    return report(database, { status, database, version: VERSION })
  },
})

export const getReady = route('get', '/ready', {
  summary: 'Report whether the service accepts requests',
  access: 'public',
  returns: ReadyView,
  async handle(_, { health, readiness }: Deps) {
    const database = await health.isHealthy()
    const isReady = database && !readiness.isStopping
    return report(isReady, { status: isReady ? 'ready' : 'not-ready', database })
  },
})
