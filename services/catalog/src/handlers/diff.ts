import type { DiffResponse, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { compare } from '@windlass/python-analysis/compatibility/compare'
import { findDeclaredChanges } from '@windlass/python-analysis/diff/declared-changes'
import { diffSources } from '@windlass/python-analysis/diff/source-change'
import type { Schema } from '@windlass/python-analysis/schema/known-types'

/** Compares what two versions declare, the inputs they accept, and their sources. */
export function compareVersions(older: Workflow, newer: Workflow): DiffResponse {
  const found = compare(schemaOf(older), schemaOf(newer))
  return {
    changes: findDeclaredChanges(older, newer),
    input: {
      from_json: older.input_schema_json,
      to_json: newer.input_schema_json,
      compatibility: found.compatibility,
      of_named_members: found.ofNamedMembers,
      problems: found.problems.map(({ loc, msg }) => ({ loc_json: JSON.stringify(loc), msg })),
      example_json: found.example ? JSON.stringify(found.example.value) : '',
    },
    source: diffSources(older.source.toString(), newer.source.toString()),
  }
}

const schemaOf = ({ input_schema_json }: Workflow): Schema | undefined =>
  input_schema_json === '' ? undefined : (JSON.parse(input_schema_json) as Schema)
