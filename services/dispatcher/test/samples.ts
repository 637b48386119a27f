import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import { newId } from '@windlass/runtime/ids'

/** A requirement that every worker meets. */
export const anyRequirement: Requirement = { packages: [], affinity: {}, runner: '' }

export const newExecution = (change: Partial<Execution>): Execution => ({
  execution_id: newId(),
  workflow_id: 'c'.repeat(32),
  workflow_namespace: 'default',
  workflow_name: 'hello',
  workflow_version: 1,
  state: 'SCHEDULED',
  worker_name: '',
  claim_generation: 0,
  input_json: '{"n":9007199254740993}',
  last_seq: 1,
  created_at: undefined,
  updated_at: undefined,
  worker_session: '',
  ...change,
})

export const workflow = (id: string): Workflow => ({
  id,
  namespace: 'default',
  name: 'hello',
  version: 1,
  source: Buffer.from('x = 1\n'),
  imports: [],
  metadata_json: '{}',
  requests_json: 'null',
  affinity_json: 'null',
  requirement: anyRequirement,
  input_schema_json: '',
  created_at: undefined,
  created_by: '',
})
