import { membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { read, send } from './server.ts'
import { workflowPath } from './workflows.ts'

/** Secrets and configs have the same routes. */
export type EntryKind = 'secrets' | 'configs'

export interface EntryRow {
  name: string
  /** Patterns of the namespaces and workflows that may use it; null: all. */
  namespaces?: string[] | null
  workflows?: string[] | null
  version?: number
  /** Time until which the previous value can be read. */
  previous_until?: string | null
  /** Names the state that a change is for; absent from replicas of an earlier release. */
  revision?: string
}

export interface EntryDraft {
  name: string
  /** JSON text, sent unchanged. */
  value: string
  namespaces: string[] | null
  workflows: string[] | null
  /** Seconds for which the previous value stays readable. */
  keep_previous?: number | undefined
}

const pathOf = (kind: EntryKind, name: string) => `/admin/${kind}/${encodeURIComponent(name)}`

/** Names and patterns, without values. */
export const listEntries = (kind: EntryKind, signal?: AbortSignal) =>
  read<EntryRow[]>(`/admin/${kind}`, { detailed: 'true' }, signal)

/** A use of a config: by the newest version of a workflow that read it. */
export interface ConfigUse {
  name: string
  version: number
  first_used_at: string
  /** Accurate to ten minutes. */
  last_used_at: string
  last_execution_id: string
}

/** Workflows that read a config, the last reads first. */
export const readConfigUses = (name: string, signal?: AbortSignal) =>
  read<{ workflows: (ConfigUse & { namespace: string })[]; others: number }>(
    `${pathOf('configs', name)}/uses`,
    {},
    signal,
  )

/** Configs that a workflow reads, the last reads first; null without the permission to read configs. */
export const readConfigsOf = (namespace: string, name: string, signal?: AbortSignal) =>
  read<{ configs: ConfigUse[] | null; cut: boolean }>(
    `${workflowPath(namespace, name)}/configs`,
    {},
    signal,
  )

/** Reads a value as JSON text; reading a secret is recorded in the audit log. */
export async function readValue(kind: EntryKind, name: string): Promise<string> {
  const answer = await send({ method: 'GET', path: pathOf(kind, name) })
  return membersOf(answer)?.get('value') ?? 'null'
}

/**
 * Creates an entry, or replaces one if it still has the revision of `known`; returns the server's message. Throws for a
 * new one whose name is taken.
 */
export async function putEntry(
  kind: EntryKind,
  draft: EntryDraft,
  known?: EntryRow,
): Promise<string> {
  const { name, value, keep_previous, ...patterns } = draft
  const members = [
    `"name":${quote(name)}`,
    `"value":${value}`,
    ...Object.entries(patterns).map(([member, one]) => `${quote(member)}:${JSON.stringify(one)}`),
    ...(keep_previous === undefined ? [] : [`"keep_previous":${keep_previous}`]),
  ]
  const condition = known ? { ifRevision: known.revision } : { ifAbsent: true }
  const body = `{${members}}`
  const answer = await send({ method: 'POST', path: `/admin/${kind}`, body, ...condition })
  return stringOf(membersOf(answer)?.get('message')) ?? ''
}

export const deleteEntry = (kind: EntryKind, name: string) =>
  send({ method: 'DELETE', path: pathOf(kind, name) })
