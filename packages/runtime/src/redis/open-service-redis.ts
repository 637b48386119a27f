import type { Settings } from '../config/settings.ts'
import type { Runtime } from '../process/main.ts'
import { watchClientCertificate } from '../tls/client-certificate.ts'
import { openRedis, type Redis } from './redis.ts'

/** Opens the connection of a service, which closes with it; new connections show a changed client certificate. */
export async function openServiceRedis(
  settings: Settings['redis'],
  runtime: Pick<Runtime, 'log' | 'readiness' | 'teardown'>,
): Promise<Redis> {
  const redis = openRedis(settings.url, settings)
  runtime.teardown.add('redis', () => redis.disconnect())
  await watchClientCertificate('redis', settings, runtime, ({ cert, key }) =>
    Object.assign(redis.options.tls ?? {}, { cert, key }),
  )
  return redis
}
