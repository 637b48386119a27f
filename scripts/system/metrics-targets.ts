import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { adminOf, INNER, OUTER, type Ports } from './topology.ts'

const fileOf = (dir: string) => path.join(dir, 'metrics-targets.json')

/**
 * Writes the admin addresses with metrics to a file that Prometheus reads (`file_sd_configs`); answers its
 * path. All services in one process have their metrics on the gateway's.
 */
export function publishTargets(dir: string, ports: Ports, singleProcess: boolean): string {
  const services = singleProcess ? ['gateway'] : [...INNER, ...OUTER]
  const targets = services.map((service) => ({
    targets: [`127.0.0.1:${ports[adminOf(service)]}`],
    labels: { service },
  }))
  writeFileSync(fileOf(dir), `${JSON.stringify(targets, undefined, 2)}\n`, { mode: 0o600 })
  return fileOf(dir)
}

/** Removes the file, also that of an earlier run that was killed. */
export const withdrawTargets = (dir: string): void => rmSync(fileOf(dir), { force: true })
