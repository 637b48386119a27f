import type { ComponentChildren } from 'preact'
import { serverNow } from '../api/server-clock.ts'
import { clock } from '../format/time.ts'
import { DataTable } from './data-table.tsx'
import { Link } from './link.tsx'
import { Selection } from './selection.tsx'

/** A step of time with its numbers. */
export interface ChartStep {
  /** Milliseconds since 1970. */
  at: number
  values: number[]
}

interface Props {
  title: string
  /** Beside the title: what can be done with the chart. */
  actions?: ComponentChildren
  /** Selects a part of the time: parts of the width from 0 to 1, and the address of a step. */
  select?: { onSelect: (from: number, to: number) => void; stepAddress: (at: number) => string }
  /** Names of the values of a step, each with the class of its colour. */
  parts: readonly (readonly [name: string, colour: string])[]
  steps: readonly ChartStep[]
  /** True if the values of a step are parts of a sum; else the later are drawn over the earlier. */
  isStacked: boolean
  /** True if a value is a number of executions in a step. */
  isCount?: boolean
  /** A value in words. */
  format: (value: number) => string
}

const BAR = 10
const GAP = 2
const HEIGHT = 60

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The length of a step, as the unit of its numbers. */
function rateOf([first, second]: readonly ChartStep[]): string {
  const ms = (second?.at ?? Number.NaN) - (first?.at ?? Number.NaN)
  if (!(ms > 0)) return ''
  return ms < HOUR_MS
    ? ` in ${Math.round(ms / MINUTE_MS)} min`
    : ` in ${Math.round(ms / HOUR_MS)} h`
}

/** Bars over time; a table below has the same numbers. */
export function BarChart(props: Props) {
  const { title, parts, steps, isStacked, isCount, format, actions, select } = props
  const sizeOf = ({ values }: ChartStep) =>
    isStacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)
  const names = parts.map(([name]) => name)
  const peak = Math.max(...steps.map(sizeOf), 0)
  const scale = peak === 0 ? 0 : HEIGHT / peak
  return (
    <figure class="card chart" aria-label={title}>
      <figcaption>
        <h2>{title}</h2>
        <span class="faint">
          at most {format(peak)}
          {isCount && rateOf(steps)}
        </span>
        {actions}
      </figcaption>
      <Selection onSelect={select?.onSelect}>
        <svg
          viewBox={`0 0 ${steps.length * BAR} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {steps.map(({ at, values }, i) =>
            values.map((value, part) => {
              const below = isStacked ? values.slice(0, part).reduce((sum, one) => sum + one, 0) : 0
              return (
                <rect
                  key={`${at} ${part}`}
                  class={parts[part]?.[1]}
                  x={i * BAR + GAP / 2}
                  y={HEIGHT - (below + value) * scale}
                  width={BAR - GAP}
                  height={value * scale}
                />
              )
            }),
          )}
        </svg>
      </Selection>
      <Ends steps={steps} />
      <ul class="legend">
        {parts.map(([name, colour]) => (
          <li key={name}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" class={colour} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
      <details>
        <summary aria-label={`As a table: ${title}`}>As a table</summary>
        <div class="chart-table">
          <DataTable label={title} heads={['From', ...names]} right={names}>
            {steps.filter(sizeOf).map(({ at, values }) => (
              <tr key={at}>
                <td class="num">
                  {select ? (
                    <Link to={select.stepAddress(at)} title="Only this step">
                      {clock(at, serverNow())}
                    </Link>
                  ) : (
                    clock(at, serverNow())
                  )}
                </td>
                {values.map((value, part) => (
                  <td key={names[part]} class="num right">
                    {format(value)}
                  </td>
                ))}
              </tr>
            ))}
          </DataTable>
        </div>
      </details>
    </figure>
  )
}

/** The times at the two ends of the chart. */
function Ends({ steps }: { steps: readonly ChartStep[] }) {
  const [first, second] = steps
  const last = steps.at(-1)
  if (!first || !last) return null
  const now = serverNow()
  const length = second ? second.at - first.at : 0
  const end = last.at + length
  return (
    <div class="chart-ends" aria-hidden="true">
      <span>{clock(first.at, now)}</span>
      <span>{end >= now - length ? 'now' : clock(end, now)}</span>
    </div>
  )
}
