import type { ComparedSide, Comparison } from '../api/repeats.ts'
import { serverNow } from '../api/server-clock.ts'
import { bytes, clock, count, duration, millis } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Link } from '../ui/link.tsx'
import { StateBadge } from '../ui/state-badge.tsx'

type Row = readonly [name: string, of: (side: ComparedSide) => string]

const secondsText = (seconds: number | null) => (seconds === null ? '–' : duration(seconds * 1_000))
const sizeText = (size: number | null) => (size === null ? '–' : bytes(size))

const ROWS: readonly Row[] = [
  ['Workflow', (side) => `${side.workflow_namespace}/${side.workflow_name}`],
  ['Version', (side) => String(side.workflow_version)],
  ['Created', (side) => clock(millis(side.created_at) ?? 0, serverNow())],
  ['Waited', (side) => secondsText(side.queue_wait)],
  ['Ran', (side) => secondsText(side.run_time)],
  ['Input', (side) => sizeText(side.input_bytes)],
  ['Output, or error', (side) => sizeText(side.output_bytes)],
  ['Error', (side) => side.error ?? '–'],
]

/** The two sides, and the first place where they differ. */
export function Differences({ found }: { found: Comparison }) {
  const { a, b } = found
  return (
    <>
      <section class="card" aria-label="Result">
        <ul class="text-links">
          {sentencesOf(found).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        {found.calls.cut && <p class="stale">A log is longer than what was compared.</p>}
      </section>
      <DataTable label="Both executions" heads={['What', 'First', 'Second']}>
        <tr>
          <th scope="row">Execution</th>
          {[a, b].map(({ execution_id }) => (
            <td key={execution_id}>
              <Link to={executionAddress(execution_id)} class="mono">
                {execution_id}
              </Link>
            </td>
          ))}
        </tr>
        <tr>
          <th scope="row">State</th>
          {[a, b].map(({ execution_id, state }) => (
            <td key={execution_id}>
              <StateBadge state={state} />
            </td>
          ))}
        </tr>
        {ROWS.map(([name, of]) => (
          <tr key={name} class={of(a) === of(b) ? 'same' : undefined}>
            <th scope="row">{name}</th>
            {[a, b].map((side) => (
              <td key={side.execution_id} class="wide">
                <bdi>{of(side)}</bdi>
              </td>
            ))}
          </tr>
        ))}
      </DataTable>
    </>
  )
}

const REASONS: Record<string, string | undefined> = {
  missing: 'is in one of them only',
  state: 'ended otherwise',
  result: 'has another result',
}

/** The comparison in sentences, the most informative first. */
function sentencesOf({ input, output, calls, ...found }: Comparison): string[] {
  const { first, same, different, only_a, only_b } = calls
  const members = input.members.length > 0 ? ` in ${input.members.join(', ')}` : ''
  return [
    first
      ? `The first call that differs is ${first.name}: it ${REASONS[first.kind] ?? 'differs'}.`
      : 'No call differs.',
    input.same ? 'The inputs are the same.' : `The inputs differ${members}.`,
    output.same ? 'The outputs are the same.' : 'The outputs differ.',
    found.same_version ? 'Both ran the same version.' : 'They ran different versions.',
    `Calls: ${count(same)} the same, ${count(different)} different, ${count(only_a)} in the first only, ${count(only_b)} in the second only.`,
  ]
}
