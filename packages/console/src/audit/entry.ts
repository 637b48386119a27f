import { type AuditEntry, toAuditEntry } from '@windlass/domain/audit-entry'
import { elementsOf } from '@windlass/runtime/json/json'

/** Entries of a page, which is a JSON array; their details stay text. */
export const toEntries = (page: string): AuditEntry[] => (elementsOf(page) ?? []).map(toAuditEntry)
