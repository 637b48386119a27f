import {
  type CheckpointList,
  type CheckpointPage,
  readCheckpointPages,
} from '@windlass/domain/audit-checkpoint'
import { membersOf } from '@windlass/runtime/json/json'
import { type Query, read, send } from './server.ts'

/** Largest page of the route. */
export const MAX_AUDIT_PAGE = 1_000

/** A page of `GET /admin/audit`; entries stay JSON text, because their text was hashed. */
export interface AuditPage {
  entries: string
  total: number
  head: { seq: number; hash: string }
  /** Number of signed checkpoints. */
  checkpoints: number
}

export async function readAudit(query: Query, signal?: AbortSignal): Promise<AuditPage> {
  const members = membersOf(await send({ method: 'GET', path: '/admin/audit', query }, signal))
  return {
    entries: members?.get('entries') ?? '[]',
    total: Number(members?.get('total') ?? 0),
    head: JSON.parse(members?.get('head') ?? '{"seq":0,"hash":""}'),
    checkpoints: Number(members?.get('checkpoints') ?? 0),
  }
}

/** Reads all signed checkpoints of the chain, and their keys; identity of an earlier release has none. */
export async function readCheckpoints(): Promise<CheckpointList> {
  const { checkpoints } = await readAudit({ after: '0', limit: '1' })
  if (checkpoints === 0) return { tokens: [], keys: [] }
  return readCheckpointPages(MAX_AUDIT_PAGE, (offset) => {
    const query = { limit: String(MAX_AUDIT_PAGE), offset: String(offset) }
    return read<CheckpointPage>('/admin/audit/checkpoints', query)
  })
}
