import type { Schema } from '../start/form.ts'
import { read } from './server.ts'

export interface WorkflowRow {
  namespace: string
  name: string
  version: number
}

/** The answer of `GET /workflows/{namespace}/{name}`. */
export interface Workflow extends WorkflowRow {
  id: string
  /** Base64 of the file. */
  source: string
  imports: string[]
  requests: Record<string, unknown>
  affinity: Record<string, string> | null
  metadata: {
    task_names?: string[]
    nested_workflows?: [string, string][]
    secret_requests?: string[]
    required_permissions?: string[]
    tags?: Record<string, string>
    input_schema?: Schema
  } & Record<string, unknown>
}

const part = encodeURIComponent
export const workflowPath = (namespace: string, name: string) =>
  `/workflows/${part(namespace)}/${part(name)}`

export const listWorkflows = (signal?: AbortSignal) => read<WorkflowRow[]>('/workflows', {}, signal)

/** Reads the latest version, or the requested one. */
export const getWorkflow = (
  { namespace, name, version }: { namespace: string; name: string; version?: string | undefined },
  signal?: AbortSignal,
) =>
  read<Workflow>(
    workflowPath(namespace, name) + (version ? `/versions/${part(version)}` : ''),
    {},
    signal,
  )

export const listVersions = (namespace: string, name: string, signal?: AbortSignal) =>
  read<WorkflowRow[]>(`${workflowPath(namespace, name)}/versions`, {}, signal)

/** The source as text; bytes that are not UTF-8 become replacement characters. */
export function sourceOf({ source }: Workflow): string {
  const bytes = Uint8Array.from(atob(source), (letter) => letter.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}
