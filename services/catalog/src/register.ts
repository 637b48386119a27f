import type { RegisterRequest, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Tx } from '@windlass/runtime/db'
import { newId } from '@windlass/runtime/ids'
import { emit } from '@windlass/runtime/outbox'
import { hashOf } from './analysis/analyzer.ts'
import type { Declared } from './domain/analysis.ts'
import { keyOf, takeVersions } from './store/names.ts'
import * as sources from './store/sources.ts'
import * as versions from './store/versions.ts'

/** Stores a new version of each declared workflow, in the order of the source, and tells of it. */
export async function register(
  tx: Tx,
  declared: Declared[],
  { source, created_by, created_by_issuer = '' }: RegisterRequest,
): Promise<Pick<Workflow, 'id' | 'version' | 'created_at'>[]> {
  const sha256 = hashOf(source)
  const numbers = await takeVersions(tx, declared)
  const fresh = declared.map((workflow) => ({
    ...workflow,
    id: newId(),
    version: numbers.get(keyOf(workflow)) as number,
  }))
  await sources.save(tx, sha256, source)
  const upload = { sha256, created_by, created_by_issuer }
  const { created_at } = (await versions.insert(tx, fresh, upload)) ?? {}
  await Promise.all(
    fresh.map(({ id, namespace, name, version }) =>
      emit(tx, 'catalog', keyOf({ namespace, name }), {
        $case: 'workflow_changed',
        value: { workflow_id: id, namespace, name, version },
      }),
    ),
  )
  return fresh.map(({ id, version }) => ({ id, version, created_at }))
}
