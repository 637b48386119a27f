import { Progress } from '@windlass/proto/windlass/signals/v1/signals'
import { Fault } from '@windlass/runtime/faults'
import type { Bus } from '@windlass/runtime/nats/bus'
import { z } from 'zod'
import type { Clients } from '../clients/connect.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { prose, text } from '../route/fields.ts'
import type { ClaimHolder } from './claim-holder.ts'

export interface LineDeps {
  bus: Bus
  capturedLines: Clients['capturedLines']
  executions: ExecutionsClient
}

const MAX_LINES = 500
const MAX_MESSAGE_CHARS = 16_384
const MAX_NAME_CHARS = 4_096
/** Maximum of lines that one claim may send. */
const MAX_FIRST = 1_048_576 - MAX_LINES

export const CapturedLines = z
  .object({
    /** Number of the first line among those of the claim, from 0: a repeated request changes nothing. */
    first: z.int().min(0).max(MAX_FIRST),
    lines: z
      .array(
        z.object({
          /** Call of the task; empty for the body of the workflow. */
          task_id: prose(MAX_NAME_CHARS),
          task_name: prose(MAX_NAME_CHARS),
          /** 10 debug, 20 info, 30 warning, 40 error, 50 critical. */
          level: z.int().min(0).max(1_000),
          /** Name of the logger; `stdout` or `stderr` for what was printed. */
          logger: prose(MAX_NAME_CHARS),
          message: prose(MAX_MESSAGE_CHARS),
          /** RFC 3339. */
          time: text(64),
        }),
      )
      .max(MAX_LINES),
  })
  .meta({ id: 'CapturedLines' })

/** Stores lines of an execution that the worker holds, and announces them to its readers. */
export async function appendLines(
  deps: LineDeps,
  execution_id: string,
  writer: ClaimHolder,
  { first, lines }: z.output<typeof CapturedLines>,
): Promise<void> {
  const { execution } = await deps.executions.submit({
    execution_id,
    with_log: false,
    body: { $case: 'verify', value: { writer } },
  })
  const { claim_generation } = execution
  const unnumbered = lines.map((line) => ({ ...line, seq: 0 }))
  const { last_seq } = await orUpgrade(
    deps.capturedLines.append({ execution_id, claim_generation, first, lines: unnumbered }),
  )
  if (last_seq > 0)
    deps.bus.publishBestEffort(
      `executions.${execution_id}.progress`,
      Progress.encode({ execution_id, items: [], last_line: last_seq }).finish(),
    )
}

/**
 * Stores the lines of a checkpoint before its events, because the end of an execution ends its line
 * streams. Malformed lines are dropped, because refusing the checkpoint would fail the execution. Lines
 * from a worker that does not hold the execution are dropped too, and the checkpoint is answered as if it
 * had none.
 */
export async function appendLinesOfCheckpoint(
  deps: LineDeps,
  execution_id: string,
  writer: ClaimHolder,
  lines_json: string,
): Promise<void> {
  const lines = CapturedLines.safeParse(JSON.parse(lines_json))
  if (!lines.success) return
  try {
    await appendLines(deps, execution_id, writer, lines.data)
  } catch (error) {
    // A repeated checkpoint of an execution that has ended is answered like the first one.
    if (!(error instanceof Fault && error.kind === 'conflict')) throw error
  }
}
