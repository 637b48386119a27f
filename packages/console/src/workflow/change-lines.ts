import type { WorkflowChanges } from '../api/workflow-changes.ts'
import { fieldsOf, type Schema } from '../start/form.ts'

/** Names that two lists do not share. */
export interface NameChanges {
  added: string[]
  removed: string[]
}

const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

function compareNames(from: readonly string[], to: readonly string[]): NameChanges {
  return {
    added: to.filter((name) => !from.includes(name)),
    removed: from.filter((name) => !to.includes(name)),
  }
}

/** Tasks by their names: one that was renamed is removed under the old name and added under the new one. */
export function taskChanges({ declared }: Pick<WorkflowChanges, 'declared'>): NameChanges {
  const tasks = declared.find(({ member }) => member === 'metadata.task_names')
  return compareNames(namesIn(tasks?.from), namesIn(tasks?.to))
}

interface MemberChanges extends NameChanges {
  /** Members of another schema, and those that are now required or no longer so. */
  changed: string[]
}

/** Members of two inputs that are objects; undefined if one of them is described otherwise or not at all. */
export function memberChanges(from: Schema | null, to: Schema | null): MemberChanges | undefined {
  const [before, after] = [fieldsOf(from ?? undefined), fieldsOf(to ?? undefined)]
  if (!before || !after) return undefined
  const named = (fields: typeof before) => fields.map(({ name }) => name)
  const changed = after.filter((field) => {
    const earlier = before.find(({ name }) => name === field.name)
    return earlier && JSON.stringify(earlier) !== JSON.stringify(field)
  })
  return { ...compareNames(named(before), named(after)), changed: named(changed) }
}

type LineKind = 'added' | 'removed' | 'place' | 'same'

const KINDS: Record<string, LineKind | undefined> = { '+': 'added', '-': 'removed', '@': 'place' }

/** Lines of a unified diff. */
export const patchLines = (patch: string): { kind: LineKind; text: string }[] =>
  patch
    .replace(/\n$/, '')
    .split('\n')
    .map((text) => ({ kind: KINDS[text[0] ?? ''] ?? 'same', text }))
