import type { Resources } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import type { Capabilities } from './matching.ts'

/** A worker's newest metrics, by key. */
export type Metrics = Readonly<Record<string, number>>

/** Facts that the routing policy of a requirement uses: `label:…`, `metric:…`, `resource:…`. */
export function selectorsOf({ routing_json }: Requirement): string[] {
  if (!routing_json) return []
  const { terms } = JSON.parse(routing_json) as { terms: { selector?: string }[] }
  return terms.flatMap(({ selector }) => selector ?? [])
}

export const usesMetrics = (selectors: readonly string[]): boolean =>
  selectors.some((selector) => selector.startsWith('metric:'))

/** Facts of a worker by selector; unknown ones are left out. */
export function factsOf(
  selectors: readonly string[],
  { labels, resources }: Capabilities,
  metrics: Metrics = {},
): Record<string, string> {
  const facts: Record<string, string> = {}
  for (const selector of selectors) {
    const colon = selector.indexOf(':')
    const [kind, key] = [selector.slice(0, colon), selector.slice(colon + 1)]
    const source = { label: labels, metric: metrics, resource: amounts(resources) }[kind]
    if (source && Object.hasOwn(source, key)) facts[selector] = String(source[key])
  }
  return facts
}

function amounts(resources: Resources | undefined): Readonly<Record<string, number>> {
  if (!resources) return {}
  const { gpus, ...plain } = resources
  return plain
}
