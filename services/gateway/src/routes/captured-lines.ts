import { z } from 'zod'
import type { Clients } from '../clients/connect.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { LEVELS, levelName, levelNumber } from '../domain/line-levels.ts'
import { integer, text } from '../route/fields.ts'
import { route } from '../route/route.ts'

interface Deps {
  capturedLines: Clients['capturedLines']
}

const Line = z
  .object({
    /** Position among the lines of the execution; not consecutive. */
    seq: z.int(),
    /** Call of the task that wrote it; empty for the body of the workflow. */
    task_id: z.string(),
    task_name: z.string(),
    /** Highest named level that the line reaches: `debug`, `info`, `warning`, `error` or `critical`. */
    level: z.string(),
    /** Name of the logger; `stdout` or `stderr` for what was printed. */
    logger: z.string(),
    message: z.string(),
    time: z.string(),
  })
  .meta({ id: 'CapturedLine' })

export const readLines = route('get', '/executions/{execution_id}/logs', {
  summary: 'Read what the code of an execution wrote with print and logging',
  access: 'may read execution',
  query: {
    /** Lines with a greater `seq`. */
    after: integer({ min: 0 }).default(0),
    limit: integer({ min: 1, max: 1_000 }).default(100),
    /** Lines of at least this level. */
    level: z.enum(LEVELS).default('debug'),
    /** Lines of one call of a task only. */
    task_id: text(1_024).optional(),
  },
  returns: z
    .object({
      lines: z.array(Line),
      /** True if there are more: read them with `after` set to the last `seq`. */
      more: z.boolean(),
    })
    .meta({ id: 'CapturedLinePage' }),
  async handle({ params: { execution_id }, query }, { capturedLines }: Deps) {
    const { after, limit, task_id } = query
    const min_level = levelNumber(query.level)
    const page = await orUpgrade(
      capturedLines.read({ execution_id, after, limit, min_level, task_id }),
    )
    const lines = page.lines.map((line) => ({ ...line, level: levelName(line.level) }))
    return { lines, more: page.more }
  },
})
