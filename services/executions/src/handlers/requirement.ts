import { createHash } from 'node:crypto'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'

export interface KnownRequirement {
  requirement_id: string
  /** JSON text of the message, with members and labels in a fixed order. */
  body: string
}

const ANY: Requirement = { packages: [], affinity: {}, runner: '' }

/** Identifies a requirement by the first 128 bits of SHA-256 over its canonical text: equal ones share an id. */
export function identifyRequirement(requirement: Requirement = ANY): KnownRequirement {
  const { cpu, memory, disk, gpu, packages, affinity, runner, routing_json, namespace } =
    requirement
  const labels = Object.entries(affinity).sort(([a], [b]) => (a < b ? -1 : 1))
  const body = JSON.stringify({
    cpu,
    memory,
    disk,
    gpu,
    packages: [...packages].sort(),
    affinity: Object.fromEntries(labels),
    runner,
    routing_json,
    namespace,
  })
  const ordered = JSON.stringify([body, labels])
  return {
    requirement_id: createHash('sha256').update(ordered).digest('hex').slice(0, 32),
    body,
  }
}

export const parseRequirement = (body: string): Requirement => JSON.parse(body) as Requirement
