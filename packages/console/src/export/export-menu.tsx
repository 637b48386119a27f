import { useState } from 'preact/hooks'
import { listExecutions } from '../api/executions.ts'
import type { Query } from '../api/server.ts'
import { count } from '../format/time.ts'
import { useAct } from '../ui/use-act.ts'
import { readAll } from './read-all.ts'
import { type Format, textOf } from './rows.ts'

const TYPES: Record<Format, string> = {
  csv: 'text/csv;charset=utf-8',
  ndjson: 'application/x-ndjson',
}

function download(text: string, format: Format): void {
  const url = URL.createObjectURL(new Blob([text], { type: TYPES[format] }))
  const link = document.createElement('a')
  link.href = url
  link.download = `executions.${format}`
  link.click()
  URL.revokeObjectURL(url)
}

interface Props {
  filter: Query
  /** Why the executions cannot be read. */
  refusal: string | undefined
}

/** Writes the executions of the filter to a file. */
export function ExportMenu({ filter, refusal }: Props) {
  const { isBusy, failure, act } = useAct()
  const [said, setSaid] = useState('')
  const write = (format: Format) =>
    act(async () => {
      const found = await readAll(
        (page) => listExecutions({ ...filter, ...page }),
        (rows) => setSaid(`${count(rows)} rows are read …`),
      )
      download(textOf(found.rows, format), format)
      const cut = found.isWhole ? '' : ' There are more: narrow the filter for the others.'
      setSaid(`${count(found.rows.length)} rows are in the file.${cut}`)
    })
  return (
    <>
      <span class="faint" role="status">
        {said}
      </span>
      {failure && (
        <span class="failure-text" role="alert">
          {failure}
        </span>
      )}
      {(['csv', 'ndjson'] as const).map((format) => (
        <button
          key={format}
          type="button"
          disabled={isBusy || refusal !== undefined}
          title={refusal}
          onClick={() => write(format)}
        >
          Export {format.toUpperCase()}
          <span class="visually-hidden"> file of these executions</span>
        </button>
      ))}
    </>
  )
}
