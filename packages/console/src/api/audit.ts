import { membersOf } from '@windlass/runtime/json/json'
import { type Query, send } from './server.ts'

/** Largest page of the route. */
export const MAX_AUDIT_PAGE = 1_000

/** A page of `GET /admin/audit`; entries stay JSON text, because their text was hashed. */
export interface AuditPage {
  entries: string
  total: number
  head: { seq: number; hash: string }
}

export async function readAudit(query: Query, signal?: AbortSignal): Promise<AuditPage> {
  const members = membersOf(await send({ method: 'GET', path: '/admin/audit', query }, signal))
  return {
    entries: members?.get('entries') ?? '[]',
    total: Number(members?.get('total') ?? 0),
    head: JSON.parse(members?.get('head') ?? '{"seq":0,"hash":""}'),
  }
}
