import { ANONYMOUS_CALLER, type Caller, INTERNAL_ISSUER } from '@windlass/domain/caller'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { declaredSecrets } from '../domain/entries.ts'

/** The members of a version that decide which secrets and configs its executions may use. */
export interface RunningVersion {
  namespace: string
  name: string
  version: number
  /** Names in its `secret_requests`, normalized for comparison. */
  declared: ReadonlySet<string>
  /** Principal that registered it. */
  uploader: Caller
}

export const toRunningVersion = (workflow: Workflow): RunningVersion => {
  const { namespace, name, version, metadata_json, created_by, created_by_issuer } = workflow
  return {
    ...{ namespace, name, version },
    declared: declaredSecrets(metadata_json),
    uploader:
      created_by === ''
        ? ANONYMOUS_CALLER
        : { subject: created_by, issuer: created_by_issuer || INTERNAL_ISSUER },
  }
}
