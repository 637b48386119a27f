import type { Schema } from '../start/form.ts'
import { read } from './server.ts'
import { workflowPath } from './workflows.ts'

/** `compatible`: it is proved that the later version accepts every input of the earlier one. */
export type Compatibility = 'compatible' | 'incompatible' | 'unknown'

/** The answer of `GET /workflows/{namespace}/{name}/versions/{a}/diff/{b}`. */
export interface WorkflowChanges {
  from_version: number
  to_version: number
  declared: { member: string; from: unknown; to: unknown }[]
  input_schema: {
    from: Schema | null
    to: Schema | null
    changed: boolean
    compatibility: Compatibility
    compatibility_of_named_members: Compatibility
    problems: { loc: (string | number)[]; msg: string }[]
    example: { input: unknown } | null
  }
  source: { changed: boolean; added: number; removed: number; patch: string }
}

interface Versions {
  namespace: string
  name: string
  from: number
  to: number
}

/** Compares two versions of a workflow. */
export const readChanges = ({ namespace, name, from, to }: Versions, signal?: AbortSignal) =>
  read<WorkflowChanges>(`${workflowPath(namespace, name)}/versions/${from}/diff/${to}`, {}, signal)
