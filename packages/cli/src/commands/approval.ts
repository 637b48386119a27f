import { path, toCallId, toExecutionId } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import type { Command, CommandOption } from '../command.ts'
import { jsonOption, printJson } from '../output.ts'
import { readCommand } from './read-command.ts'

const pathOf = ([id = '', call = '']: string[]) =>
  path`/executions/${toExecutionId(id)}/approvals/${toCallId(call)}`

export const approvalList = readCommand({
  words: 'approval list',
  args: [],
  about: 'List the approvals that wait for a decision, newest first',
  query: {
    status: { value: 'STATUS', about: 'pending (default), approved, rejected, cancelled or all' },
    execution: { parameter: 'execution_id', value: 'ID', about: 'only of this execution' },
    namespace: {
      ...{ parameter: 'workflow_namespace', value: 'NAME' },
      about: 'only of this namespace',
    },
    workflow: {
      ...{ parameter: 'workflow_name', value: 'NAME' },
      about: 'only of workflows of this name',
    },
    task: { parameter: 'task_name', value: 'NAME', about: 'only of tasks of this name' },
    'age-min': {
      ...{ parameter: 'age_min', value: 'AGE' },
      about: 'only requested at least this long ago, such as PT30M',
    },
    limit: { value: 'N', about: 'at most this many (default 20)' },
    offset: { value: 'N', about: 'leave out this many' },
  },
  pathOf: () => path`/approvals`,
  table: {
    member: 'approvals',
    columns: ['execution_id', 'task_call_id', 'workflow_name', 'status', 'requested_at'],
  },
})

export const approvalShow = readCommand({
  words: 'approval show',
  args: ['execution_id', 'task_call_id'],
  about: 'Show the approval of a call of a task',
  pathOf,
})

const decisionCommand = (
  verb: 'approve' | 'reject',
  about: string,
  more: Record<string, CommandOption> = {},
): Command => ({
  words: `approval ${verb}`,
  args: ['execution_id', 'task_call_id'],
  about,
  options: {
    reason: { type: 'string', value: 'TEXT', about: 'a comment for the task and the audit log' },
    ...more,
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const { reason, always } = parsed.options
    const body = toJsonObject({
      reason: reason === undefined ? undefined : quote(String(reason)),
      always: always ? 'true' : undefined,
    })
    const request = { method: 'POST', path: `${pathOf(parsed.args)}/${verb}`, body } as const
    printJson(context, await createApiCall(parsed, context)(request))
    return 0
  },
})

export const approvalApprove = decisionCommand('approve', 'Approve a call, so that its task runs', {
  always: { type: 'boolean', about: 'also later calls of the task in this execution' },
})

export const approvalReject = decisionCommand(
  'reject',
  'Reject a call: its task does not run and raises ApprovalRejected',
)
