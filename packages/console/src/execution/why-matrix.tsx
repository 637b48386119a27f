import { count } from '../format/time.ts'
import { workerAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Link } from '../ui/link.tsx'
import type { MatrixView } from './why-view.ts'

/** Met or not, by shape and word. */
const Cell = ({ isMet, word }: { isMet: boolean; word: string }) => (
  <span class={`met ${isMet ? 'tone-good' : 'tone-bad'}`}>
    <svg viewBox="0 0 14 14" aria-hidden="true">
      {isMet ? (
        <>
          <circle cx="7" cy="7" r="6" />
          <path d="M4.2 7.2 6.2 9.2 9.9 5" />
        </>
      ) : (
        <>
          <path d="M7 .6 13.4 7 7 13.4 .6 7z" />
          <path d="M5 5l4 4M9 5l-4 4" />
        </>
      )}
    </svg>
    {word}
  </span>
)

/**
 * What the execution needs against what each worker has; the worker that lacks least comes first. `isOver`: the
 * execution has ended, so the workers are those that could run it again.
 */
export function WhyMatrix({ view, isOver }: { view: MatrixView; isOver: boolean }) {
  const { workers, rows, hidden } = view
  return (
    <section class="page-body" aria-label="Needs and workers">
      <DataTable
        label="Needs against workers"
        heads={['Needs', ...workers.map(({ name }) => name)]}
      >
        {rows.map(({ need, cells }) => (
          <tr key={need}>
            <th scope="row">
              <bdi>{need}</bdi>
            </th>
            {cells.map(({ isMet, word }, i) => (
              <td key={workers[i]?.name}>
                <Cell isMet={isMet} word={word} />
              </td>
            ))}
          </tr>
        ))}
        <tr>
          <th scope="row">{isOver ? 'Could run it again now' : 'Could take it now'}</th>
          {workers.map(({ name, canTake, unmetCount, isNearest }) => (
            <td key={name}>
              <Cell isMet={canTake} word={canTake ? 'yes' : `no, ${unmetCount} unmet`} />
              {isNearest && <strong class="nearest">← nearest</strong>}{' '}
              <Link to={workerAddress(name)}>
                open<span class="visually-hidden"> worker {name}</span>
              </Link>
            </td>
          ))}
        </tr>
      </DataTable>
      {hidden > 0 && (
        <p class="stale">
          {count(hidden)} more workers, which lack as much or more, are in the table.
        </p>
      )}
    </section>
  )
}

const SHOWN_BEFORE = 30
const STEP = 14

/** The place in the queue: one square for each execution before it, then its own. */
export function QueuePlace({ position }: { position: number }) {
  const before = position - 1
  const drawn = Math.min(before, SHOWN_BEFORE)
  return (
    <figure class="queue-place" aria-label="Place in the queue">
      <svg
        viewBox={`0 0 ${(drawn + 2) * STEP} 16`}
        style={{ maxWidth: `${(drawn + 2) * STEP}px` }}
        aria-hidden="true"
      >
        {Array.from({ length: drawn }, (_, i) => (
          <rect
            key={i}
            class="queue-other"
            x={(drawn - i) * STEP + STEP}
            y="3"
            width="10"
            height="10"
          />
        ))}
        <path class="queue-own" d={`M${STEP * 0.5 + 5} 1l7 7-7 7-7-7z`} />
      </svg>
      <figcaption class="faint">
        {before === 0
          ? '◆ It is the first in the queue.'
          : `◆ It comes after ${count(before)} ${before === 1 ? 'other' : 'others'}${drawn < before ? `; ${count(drawn)} are drawn` : ''}.`}
      </figcaption>
    </figure>
  )
}
