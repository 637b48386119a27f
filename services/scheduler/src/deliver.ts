import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Command, Result } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import { chunksOf } from './domain/chunks.ts'
import { retryMs } from './domain/retry.ts'
import type { Parts } from './parts.ts'
import * as schedules from './store/schedules.ts'
import * as ticks from './store/ticks.ts'

const SUBMIT_MS = 8_000
const RESOLVE_MS = 3_000
const RESOLVES_AT_ONCE = 16
const MAX_COMMANDS = 100
const MAX_INPUT_BYTES = 8 * 1_048_576
/** Refused for now; everything else is an answer for good. */
const RETRIED = new Set(['unavailable', 'rate_limited'])

type Resolved = Workflow | Fault | undefined

/**
 * Starts an execution for each firing and settles what got an answer, good or bad. What got none is
 * tried again later; since the execution's id is derived, a repetition cannot start a second one.
 */
export async function deliver(parts: Parts, firings: ticks.Firing[]): Promise<void> {
  if (firings.length === 0) return
  const workflows = await resolveAll(parts, firings)
  const outcomes: ticks.Outcome[] = []
  const ready: Ready[] = []
  for (const firing of firings) {
    const workflow = workflows.get(nameOf(firing))
    if (workflow instanceof Fault) outcomes.push(failed(firing, workflow.message))
    else if (workflow) ready.push({ firing, workflow })
  }
  const limits = { items: MAX_COMMANDS, bytes: MAX_INPUT_BYTES }
  // What failed together may fail because of one of them, so it is repeated one by one.
  const bytesOf = ({ firing }: Ready) =>
    firing.attempts > 0 ? MAX_INPUT_BYTES : firing.input_bytes
  for (const chunk of chunksOf(ready, bytesOf, limits))
    outcomes.push(...(await submit(parts, chunk)))

  const settled = new Set(outcomes.map(({ firing }) => firing))
  const open = firings.filter((firing) => !settled.has(firing))
  if (outcomes.length > 0) await parts.db.tx((tx) => ticks.acknowledge(tx, outcomes))
  if (open.length > 0)
    await ticks.postpone(
      parts.db,
      open,
      open.map((f) => retryMs(f.attempts)),
    )
}

interface Ready {
  firing: ticks.Firing
  workflow: Workflow
}

const nameOf = (firing: ticks.Firing) => `${firing.workflow_namespace}/${firing.workflow_name}`

/** The latest version of each workflow, the fault for which there is none, or nothing if that cannot be known now. */
async function resolveAll(
  { catalog, log }: Parts,
  firings: ticks.Firing[],
): Promise<Map<string, Resolved>> {
  const wanted = [...new Map(firings.map((firing) => [nameOf(firing), firing])).entries()]
  const resolved = new Map<string, Resolved>()
  const next = async () => {
    for (let item = wanted.pop(); item; item = wanted.pop()) {
      const [key, { workflow_namespace: namespace, workflow_name: name }] = item
      const request = { namespace, name, version: 0 }
      resolved.set(
        key,
        await catalog.resolve(request, { timeoutMs: RESOLVE_MS }).catch((error: unknown) => {
          if (error instanceof Fault && !RETRIED.has(error.kind)) return error
          log.warn({ err: error, workflow: key }, 'cannot resolve a scheduled workflow yet')
          return undefined
        }),
      )
    }
  }
  await Promise.all(Array.from({ length: RESOLVES_AT_ONCE }, next))
  return resolved
}

async function submit({ db, executions, log }: Parts, chunk: Ready[]): Promise<ticks.Outcome[]> {
  const inputs = await schedules.inputs(
    db,
    chunk.map(({ firing }) => firing.schedule_id),
  )
  const kept = chunk.filter(({ firing }) => inputs.has(firing.schedule_id))
  if (kept.length === 0) return []
  const commands = kept.map((ready) =>
    commandOf(ready, inputs.get(ready.firing.schedule_id) ?? 'null'),
  )
  try {
    const { results } = await executions.submit({ commands }, { timeoutMs: SUBMIT_MS })
    return kept.flatMap((ready, i) => outcomeOf(ready, results[i]))
  } catch (error) {
    log.warn({ err: error, commands: commands.length }, 'cannot start scheduled executions yet')
    return []
  }
}

function commandOf({ firing, workflow }: Ready, input_json: string): Command {
  const create = {
    workflow_id: workflow.id,
    workflow_namespace: workflow.namespace,
    workflow_name: workflow.name,
    workflow_version: workflow.version,
    input_json,
    requirement: workflow.requirement,
    preferred_worker: '',
    created_by: firing.run_as,
    schedule_id: firing.schedule_id,
    request_hash: '',
  }
  const { execution_id } = firing
  return { execution_id, with_log: false, body: { $case: 'create', value: create } }
}

function outcomeOf({ firing, workflow }: Ready, result: Result | undefined): ticks.Outcome[] {
  if (result?.body?.$case === 'execution') {
    const { state, created_at } = result.body.value
    const started_at = created_at ?? firing.nominal_at
    const workflow_id = workflow.id
    return [{ firing, status: 'started', workflow_id, state, started_at, error: undefined }]
  }
  const refusal = result?.body?.value
  if (!refusal || RETRIED.has(refusal.kind)) return []
  return [failed(firing, refusal.message)]
}

const failed = (firing: ticks.Firing, error: string): ticks.Outcome => ({
  firing,
  status: 'failed',
  workflow_id: undefined,
  state: undefined,
  error,
  started_at: undefined,
})
