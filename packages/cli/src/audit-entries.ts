import type { Head } from '@windlass/domain/audit'
import { parseHead } from '@windlass/domain/audit-pages'
import { UsageError } from './command.ts'

/** Parses `SEQ:HASH`; throws UsageError. */
export function parseCheckpoint(text: string): Head {
  const head = parseHead(text)
  if (head) return head
  throw new UsageError(`'${text}' is not a head; use SEQ:HASH as printed by audit verify`)
}
