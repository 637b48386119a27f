import type { Caller } from '@windlass/domain/caller'
import type { RegisterRequest, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { DeclaredWorkflow } from '@windlass/python-analysis/declared-workflows'
import { newId } from '@windlass/runtime/ids'
import type { Tx } from '@windlass/runtime/postgres/db'
import { emit } from '@windlass/runtime/postgres/outbox'
import { hashSource } from '../analysis/analysis-cache.ts'
import * as sources from '../store/sources.ts'
import * as versions from '../store/versions.ts'
import { keyOf, returnVersions, takeVersions } from '../store/workflow-versions.ts'

type StoredVersion = Pick<
  Workflow,
  'id' | 'version' | 'created_at' | 'created_by' | 'created_by_issuer'
>

/** An upload with its caller and trace context. */
type Upload = RegisterRequest & { uploader: Caller; traceparent?: string | undefined }

/**
 * Stores a new version of each declared workflow, in source order, and emits the events. With
 * `if_changed` a workflow whose latest version has the same source keeps that version.
 */
export async function register(
  tx: Tx,
  declared: DeclaredWorkflow[],
  { source, if_changed, uploader, traceparent }: Upload,
): Promise<StoredVersion[]> {
  const { subject: created_by, issuer: created_by_issuer } = uploader
  const sha256 = hashSource(source)
  // In every case the numbers are taken first, because that locks the workflows.
  const numbers = await takeVersions(tx, declared)
  const kept = if_changed ? await versions.findLatestFromSource(tx, declared, sha256) : new Map()
  if (kept.size > 0) await returnVersions(tx, [...kept.values()])
  const fresh = declared
    .filter((workflow) => !kept.has(keyOf(workflow)))
    .map((workflow) => ({
      ...workflow,
      id: newId(),
      version: numbers.get(keyOf(workflow)) as number,
    }))
  const by = { sha256, created_by, created_by_issuer }
  const created = await storeVersions(tx, { fresh, source, traceparent }, by)
  return declared.map(
    (workflow) => (kept.get(keyOf(workflow)) ?? created.get(keyOf(workflow))) as StoredVersion,
  )
}

async function storeVersions(
  tx: Tx,
  {
    fresh,
    source,
    traceparent,
  }: { fresh: versions.NewVersion[] } & Pick<Upload, 'source' | 'traceparent'>,
  { sha256, ...by }: versions.Upload,
): Promise<Map<string, StoredVersion>> {
  if (fresh.length === 0) return new Map()
  await sources.save(tx, sha256, source)
  const { created_at } = (await versions.insert(tx, fresh, { sha256, ...by })) ?? {}
  await Promise.all(
    fresh.map(({ id, namespace, name, version }) =>
      emit(
        tx,
        { source: 'catalog', key: keyOf({ namespace, name }), traceparent },
        { $case: 'workflow_changed', value: { workflow_id: id, namespace, name, version } },
      ),
    ),
  )
  return new Map(
    fresh.map((workflow) => {
      const { id, version } = workflow
      return [keyOf(workflow), { id, version, created_at, ...by }]
    }),
  )
}
