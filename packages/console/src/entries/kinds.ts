import type { EntryKind } from '../api/entries.ts'

interface KindView {
  title: string
  /** One of them, in a sentence. */
  one: string
  read: string
  manage: string
  /** Begin of its name in the audit log. */
  object: string
  /** Text of an empty list. */
  empty: string
}

export const KINDS: Record<EntryKind, KindView> = {
  secrets: {
    title: 'Secrets',
    one: 'secret',
    read: 'admin:secrets:read',
    manage: 'admin:secrets:manage',
    object: 'secret',
    empty: 'A task names the secrets that it needs; their values never are in a payload or a log.',
  },
  configs: {
    title: 'Configs',
    one: 'config',
    read: 'config:*:read',
    manage: 'config:*:manage',
    object: 'config',
    empty: 'A task names the configs that it needs; a change counts from its next call.',
  },
}
