import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import { Progress } from '@windlass/proto/windlass/signals/v1/signals'
import { parseId } from '@windlass/runtime/ids'
import { z } from 'zod'
import type { ClaimAnswers } from '../clients/claim-answers.ts'
import type { HeartbeatClient } from '../clients/heartbeats.ts'
import { readMetrics } from '../domain/pong.ts'
import { inMessages } from '../domain/progress.ts'
import { context } from '../domain/views.ts'
import { optionalJson, workerReport } from '../route/body.ts'
import { route } from '../route/route.ts'
import type { LineDeps } from './append-lines.ts'
import { claimHolderOf } from './claim-holder.ts'
import { ExecutionContext, Ok } from './schemas.ts'

export interface Deps extends LineDeps {
  claimAnswers: ClaimAnswers
  heartbeats: HeartbeatClient
}

export const pong = route('post', '/workers/{name}/pong', {
  summary: 'Answer a ping',
  access: 'own worker',
  raw: true,
  body: optionalJson(z.object({ healthy: z.boolean().nullish(), metrics: z.unknown().optional() })),
  returns: Ok,
  async handle({ params, body, resolved: { session_id } }, { heartbeats }: Deps) {
    const metrics = readMetrics(body?.metrics)
    await heartbeats.send({
      name: params.name,
      session_id,
      healthy: body?.healthy ?? true,
      metrics: metrics && { values: metrics },
    })
    return { status: 'ok' as const }
  },
})

export const claim = route('post', '/workers/{name}/claim/{execution_id}', {
  summary: 'Claim a dispatched execution',
  access: 'own worker',
  raw: true,
  returns: ExecutionContext,
  async handle({ params: { execution_id }, resolved, ctx }, { executions, claimAnswers }: Deps) {
    const writer = claimHolderOf(resolved, ctx, execution_id)
    const { execution, log, execution_token } = await executions.submit({
      execution_id,
      traceparent: ctx.traceparent,
      with_log: true,
      body: { $case: 'claim', value: { writer, awaits_confirmation: true } },
    })
    const { claim_generation } = execution
    claimAnswers.track(execution_id, { ...writer, claim_generation }, ctx.res)
    const generation = String(claim_generation)
    ctx.responseHeaders.push('x-svc-claim-generation', generation)
    ctx.responseHeaders.push('x-flux-claim-generation', generation)
    if (execution.attempts) ctx.responseHeaders.push('x-svc-attempt', String(execution.attempts))
    if (execution_token) ctx.responseHeaders.push('x-svc-execution-token', execution_token)
    return context(execution, log)
  },
})

/** Executions that one parked execution may wait for. */
const MAX_AWAITED = 256

const executionId = z
  .string()
  .refine((text) => parseId(text) !== undefined, 'is not an execution id')
  .transform((text) => parseId(text) ?? text)

const Release = z
  .object({
    /** RFC 3339, with an offset or Z; a time in the past queues the execution at once. */
    wake_at: z.iso
      .datetime({ offset: true })
      .transform((text) => new Date(text))
      .nullish(),
    /** Executions whose end wakes it. */
    wake_on: z.array(executionId).max(MAX_AWAITED).nullish(),
    /** The process that ran it has ended: counts as an attempt. */
    crashed: z.boolean().nullish(),
  })
  .meta({ id: 'Release' })

export const release = route('post', '/workers/{name}/release/{execution_id}', {
  summary: 'Return an execution to the queue, at once or when a condition is met',
  access: 'own execution',
  raw: true,
  body: optionalJson(Release),
  returns: z.object({ status: z.literal('released'), state: z.string() }),
  async handle({ params: { execution_id }, body, resolved, ctx }, { executions }: Deps) {
    const { wake_at, wake_on } = body ?? {}
    const park = { wake_at: wake_at ?? undefined, wake_on: wake_on ?? [] }
    const writer = claimHolderOf(resolved, ctx, execution_id)
    const { execution } = await executions.submit({
      execution_id,
      traceparent: ctx.traceparent,
      with_log: false,
      body: {
        $case: 'release',
        value: { writer, park, unclaimed_only: false, crashed: body?.crashed ?? undefined },
      },
    })
    return { status: 'released' as const, state: execution.state }
  },
})

const ProgressItems = z
  .array(z.object({ task_id: z.string(), task_name: z.string(), value: z.unknown() }))
  .meta({ id: 'Progress' })

export const progress = route('post', '/workers/{name}/progress/{execution_id}', {
  summary: 'Forward the progress of tasks to the readers of the execution',
  access: 'own execution',
  raw: true,
  body: workerReport(ProgressItems, 'progress'),
  returns: Ok,
  async handle({ params: { execution_id }, body, resolved, ctx }, { bus, executions }: Deps) {
    const command: Command = {
      execution_id,
      traceparent: ctx.traceparent,
      with_log: false,
      body: { $case: 'verify', value: { writer: claimHolderOf(resolved, ctx, execution_id) } },
    }
    await executions.submit(command)
    for (const items of inMessages(body))
      bus.publishBestEffort(
        `executions.${execution_id}.progress`,
        Progress.encode({ execution_id, items }).finish(),
      )
    return { status: 'ok' as const }
  },
})
