import type { ConfigUse } from '../api/entries.ts'
import { millis } from '../format/time.ts'
import { ExecutionLink } from '../ui/execution-link.tsx'
import { useNow } from '../ui/now.ts'
import { Ago } from '../ui/times.tsx'

type Use = Pick<ConfigUse, 'version' | 'last_used_at' | 'last_execution_id'>

/** Cells of a use of a config: the version that read it, when, and in which execution. */
export function ConfigUseCells({ version, last_used_at, last_execution_id }: Use) {
  const now = useNow()
  return (
    <>
      <td class="num">{version}</td>
      <td class="num">
        <Ago at={millis(last_used_at)} now={now} />
      </td>
      <td>
        <ExecutionLink id={last_execution_id} />
      </td>
    </>
  )
}
