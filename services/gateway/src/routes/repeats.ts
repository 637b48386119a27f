import { objects } from '@windlass/domain/audit'
import { DEFAULT_PRIORITY } from '@windlass/domain/priority'
import type { Command, Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { PlanForkResponse } from '@windlass/proto/windlass/executions/v1/history'
import { unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { Repeatable } from '../access/repeat.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { JsonText } from '../domain/views.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { WholeLogDeps } from '../live/whole-log.ts'
import { json, optionalJson } from '../route/body.ts'
import { flag, priorityQuery } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { FORK_RESULT } from './examples.ts'
import { checkInput, createOf, type RepeatDeps } from './repeat-command.ts'
import { viewFor } from './responses.ts'
import { kept } from './schedule-views.ts'
import { ExecutionView } from './schemas.ts'

type Deps = RepeatDeps & WholeLogDeps

const query = {
  detailed: flag.default(false),
  priority: priorityQuery(
    `Level in the queue. Default: that of the workflow, else ${DEFAULT_PRIORITY}`,
  ),
}

const again = {
  /** Another input; absent: that of the execution. */
  input: kept.optional(),
  /** Another version of the workflow; absent: that of the execution. */
  version: z.int().min(1).max(2_147_483_647).optional(),
}

const RerunRequest = z
  .strictObject(again)
  .meta({ id: 'RerunRequest', examples: [{}, { input: { order: 17 }, version: 3 }] })

export const rerunExecution = route('post', '/executions/{execution_id}/rerun', {
  summary: 'Start an execution like another one, with its input or another, without waiting',
  access: 'may repeat execution',
  query,
  body: optionalJson(RerunRequest, { payloads: ['input'] }),
  returns: ExecutionView,
  audit: {
    level: 'runs',
    action: 'execution.run',
    object: ({ params }) => objects.execution(params.execution_id),
    detail: ({ resolved, ctx }) => startedBy(resolved, ctx),
    recorded: 'eventually',
  },
  async handle({ params, query, body, resolved, caller, ctx }, deps: Deps) {
    const { priority } = query
    const request = { ctx, caller, ...resolved, input_json: body?.input?.text, priority }
    await checkInput(deps, request)
    const create = await createOf(deps, { ...request, action: ['rerun', params.execution_id] })
    return viewFor(deps, { query, caller, ctx }, await start(deps, ctx, create))
  },
})

const ForkRequest = z
  .strictObject({
    /** Place in the log: calls whose outcome is in an entry up to this one do not run again. */
    after_seq: z.int().min(0),
    ...again,
    /** Tell what would run again, and start nothing. */
    dry_run: z.boolean().default(false),
  })
  .meta({ id: 'ForkRequest', examples: [{ after_seq: 12, dry_run: true }] })

const ForkResult = z
  .object({
    plan: z.object({
      /** Entries that the log of the fork begins with. */
      entries: z.int(),
      /** Calls whose outcome is among them. */
      calls: z.int(),
      /** Calls of the execution that have none there; another input or version may make others. */
      runs_again: z.array(
        z.object({
          call_id: z.string(),
          name: z.string(),
          /** Its first entry in the log of the execution. */
          seq: z.int(),
        }),
      ),
      /** True if more calls run again than are listed. */
      cut: z.boolean(),
    }),
    /** The fork; null in a dry run. */
    execution: ExecutionView.nullable(),
  })
  .meta({ id: 'ForkResult', examples: [FORK_RESULT] })

export const forkExecution = route('post', '/executions/{execution_id}/fork', {
  summary: 'Start an execution that begins with the log of another one up to an entry',
  isExpensive: true,
  access: 'may repeat execution',
  query,
  body: json(ForkRequest, { payloads: ['input'] }),
  returns: ForkResult,
  audit: {
    level: 'runs',
    action: 'execution.run',
    object: ({ params }) => objects.execution(params.execution_id),
    isDryRun: ({ body }) => body?.dry_run === true,
    detail: ({ body, resolved, ctx }) => ({
      ...startedBy(resolved, ctx),
      ...(body && { after_seq: body.after_seq }),
    }),
    recorded: 'eventually',
  },
  async handle({ params: { execution_id }, query, body, resolved, caller, ctx }, deps: Deps) {
    const { after_seq, dry_run } = body
    const planned = await orUpgrade(deps.history.planFork({ execution_id, after_seq }))
    if (!planned.found) throw beyondEnd(planned)
    const { entries, calls, runs_again, cut } = planned
    const plan = JSON.stringify({ entries, calls, runs_again, cut })
    const { priority } = query
    const request = { ctx, caller, ...resolved, input_json: body.input?.text, priority }
    await checkInput(deps, request)
    if (dry_run) return new JsonText(`{"plan":${plan},"execution":null}`)
    const action = ['fork', execution_id, String(after_seq)]
    const { execution_id: id, value } = await createOf(deps, { ...request, action })
    const fork = { $case: 'fork', value: { create: value, after_seq } } as const
    const execution = await submit(deps, ctx, { execution_id: id, with_log: false, body: fork })
    const view = await viewFor(deps, { query, caller, ctx }, execution)
    return new JsonText(`{"plan":${plan},"execution":${view.text}}`)
  },
})

const beyondEnd = ({ last_seq }: PlanForkResponse) =>
  unprocessable({
    loc: ['body', 'after_seq'],
    msg: `must be at most ${last_seq}, the end of the log`,
    type: 'value_error',
  })

const startedBy = (resolved: Repeatable | undefined, { executionId }: RequestContext) => ({
  ...{ execution_id: executionId, workflow_version: resolved?.workflow.version },
})

const start = (
  deps: Deps,
  ctx: RequestContext,
  { execution_id, value }: Awaited<ReturnType<typeof createOf>>,
): Promise<Execution> =>
  submit(deps, ctx, { execution_id, with_log: false, body: { $case: 'create', value } })

async function submit({ executions }: Deps, ctx: RequestContext, command: Command) {
  ctx.executionId = command.execution_id
  const { execution } = await executions.submit(command)
  ctx.responseHeaders.push('x-svc-execution-id', command.execution_id)
  return execution
}
