import { Progress } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'
import { z } from 'zod'
import type { Clients } from '../clients/connect.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { json } from '../route/body.ts'
import { prose, text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { claimHolderOf } from './claim-holder.ts'
import { Ok } from './schemas.ts'

export interface Deps {
  bus: Bus
  capturedLines: Clients['capturedLines']
  executions: ExecutionsClient
}

const MAX_LINES = 500
const MAX_MESSAGE_CHARS = 16_384
const MAX_NAME_CHARS = 4_096
/** Numbers of lines that one claim may send. */
const MAX_FIRST = 1_048_576 - MAX_LINES

const Lines = z
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

export const storeLines = route('post', '/workers/{name}/logs/{execution_id}', {
  summary: 'Store lines that the code of a held execution wrote',
  access: 'own execution',
  raw: true,
  body: json(Lines, { size: 'names' }),
  returns: Ok,
  async handle({ params: { execution_id }, body, resolved, ctx }, deps: Deps) {
    const writer = claimHolderOf(resolved, ctx, execution_id)
    const { execution } = await deps.executions.submit({
      execution_id,
      with_log: false,
      body: { $case: 'verify', value: { writer } },
    })
    const { claim_generation } = execution
    const lines = body.lines.map((line) => ({ ...line, seq: 0 }))
    const { last_seq } = await orUpgrade(
      deps.capturedLines.append({ execution_id, claim_generation, first: body.first, lines }),
    )
    if (last_seq > 0)
      deps.bus.publishBestEffort(
        `executions.${execution_id}.progress`,
        Progress.encode({ execution_id, items: [], last_line: last_seq }).finish(),
      )
    return { status: 'ok' as const }
  },
})
