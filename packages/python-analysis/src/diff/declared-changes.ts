import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'

/** Change of one declared member, as JSON text; '' where it is not declared. */
export interface DeclaredChange {
  /** `requests`, `affinity`, `imports`, or a member of `metadata`: `metadata.schedule`. */
  member: string
  from_json: string
  to_json: string
}

type DeclaredParts = Pick<Workflow, 'metadata_json' | 'requests_json' | 'affinity_json' | 'imports'>

/** Lists the members that two versions declare differently, without the input schema. */
export function findDeclaredChanges(older: DeclaredParts, newer: DeclaredParts): DeclaredChange[] {
  const [was, is] = [membersOf(older), membersOf(newer)]
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((member) => ({ member, from_json: was.get(member) ?? '', to_json: is.get(member) ?? '' }))
    .filter(({ from_json, to_json }) => from_json !== to_json)
}

function membersOf({ metadata_json, requests_json, affinity_json, imports }: DeclaredParts) {
  const { input_schema, ...metadata } = JSON.parse(metadata_json) as Record<string, unknown>
  const members = Object.entries(metadata).map(([name, value]): [string, string] => [
    `metadata.${name}`,
    JSON.stringify(value),
  ])
  return new Map([
    ...members,
    ['requests', declared(requests_json)],
    ['affinity', declared(affinity_json)],
    ['imports', JSON.stringify(imports)],
  ])
}

const declared = (json: string): string => (json === 'null' ? '' : json)
