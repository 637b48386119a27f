import { hourly } from './invalid-schedule-cases.ts'
import { ID, THEIRS } from './two-tenant-cases.ts'

/** Arguments of MCP tools by name; a tool with another argument fails the test. */
export const TOOL_ARGUMENTS: Record<string, unknown> = {
  expires_in_days: 1,
  max_uses: 1,
  restrictions: '{}',
  workflow_name: THEIRS.workflow_name,
  workflow_namespace: THEIRS.namespace,
  execution_id: ID,
  nested_id: ID,
  schedule_id: THEIRS.schedule,
  worker_name: 'w1',
  input_data: '1',
  detailed: true,
  mode: 'sync',
  version: 1,
  after_seq: 0,
  dry_run: true,
  other_execution_id: ID,
  limit: 10,
  priority: 5,
  offset: 0,
  state: '',
  active_only: false,
  name: 'new',
  description: 'x',
  schedule_config: JSON.stringify(hourly),
}
