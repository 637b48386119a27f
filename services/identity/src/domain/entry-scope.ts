import { matchesPattern } from '@windlass/domain/name-pattern'
import type { Entry, Patterns } from '@windlass/proto/windlass/identity/v1/secrets'
import { unprocessable } from '@windlass/runtime/faults'

/** Patterns of names; undefined: every name. */
export type NamePatterns = readonly string[] | undefined

/** The workflows that may use a secret or a config. */
export interface EntryScope {
  namespaces: NamePatterns
  workflows: NamePatterns
}

/** Workflow of the version that runs. */
export interface WorkflowName {
  namespace: string
  workflow: string
}

const MAX_PATTERNS = 100
const PATTERN = /^[^/\p{C}]{1,128}$/u

type Member = keyof EntryScope

/** Returns the scope after a Put: members that the Put does not contain stay unchanged. */
export const changedScope = (entry: Entry, current: EntryScope | undefined): EntryScope => ({
  namespaces: changedPatterns(entry, current, 'namespaces'),
  workflows: changedPatterns(entry, current, 'workflows'),
})

function changedPatterns(entry: Entry, current: EntryScope | undefined, member: Member) {
  const given = entry[member]
  if (!given) return current?.[member]
  return given.all ? undefined : parsePatterns(given.items, member)
}

/** Returns the distinct patterns in NFC, sorted. Throws `unprocessable`. */
function parsePatterns(items: readonly string[], member: Member): readonly string[] {
  const patterns = [...new Set(items.map((item) => item.normalize('NFC')))].sort()
  const isValid = patterns.length <= MAX_PATTERNS && patterns.every((text) => PATTERN.test(text))
  if (isValid) return patterns
  throw unprocessable({
    loc: ['body', member],
    msg: `must be at most ${MAX_PATTERNS} patterns of 1 to 128 printable characters without /`,
    type: 'value_error',
  })
}

/** A scope in the form of messages. */
export const toScopeMessage = ({ namespaces, workflows }: EntryScope) => ({
  namespaces: toPatterns(namespaces),
  workflows: toPatterns(workflows),
})

const toPatterns = (patterns: NamePatterns): Patterns => ({
  items: [...(patterns ?? [])],
  all: patterns === undefined,
})

/**
 * True if the scope permits this workflow. If the workflow is unknown, only a scope of all workflows does.
 */
export const isInScope = (
  { namespaces, workflows }: EntryScope,
  user: WorkflowName | undefined,
): boolean => matchesAny(namespaces, user?.namespace) && matchesAny(workflows, user?.workflow)

const matchesAny = (patterns: NamePatterns, name: string | undefined): boolean =>
  patterns === undefined ||
  (name !== undefined && patterns.some((pattern) => matchesPattern(pattern, name)))
