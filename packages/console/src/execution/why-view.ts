/** The parts of an execution's requirement against each worker, in rows and columns. */

export interface WorkerPlace {
  name: string
  status: string
  eligible: boolean
  /** First reason why it does not take the execution. */
  unmet: string | null
  /** Parts of the requirement that it does not meet; absent in the answer of an earlier release. */
  lacking?: string[]
  used: number
  capacity: number | null
}

interface MatrixCell {
  isMet: boolean
  word: string
}

interface MatrixWorker {
  name: string
  canTake: boolean
  /** Rows that it does not meet. */
  unmetCount: number
  /** True for the worker that the smallest change would help, if none can take it. */
  isNearest: boolean
}

export interface MatrixView {
  workers: MatrixWorker[]
  rows: { need: string; cells: MatrixCell[] }[]
  /** Workers without a column. */
  hidden: number
}

export const CONNECTED = 'a connection, in good health'
export const FREE_SLOT = 'a free slot'

const isConnected = ({ status }: WorkerPlace) => status === 'online'
const hasFreeSlot = ({ used, capacity }: WorkerPlace) => capacity === null || used < capacity

const unmetCount = (place: WorkerPlace): number =>
  (place.lacking?.length ?? 0) + Number(!isConnected(place)) + Number(!hasFreeSlot(place))

/** Makes the rows and columns; at most `most` workers, those that lack least first. */
export function matrixOf(
  needs: readonly string[],
  places: readonly WorkerPlace[],
  most: number,
): MatrixView {
  const sorted = [...places].sort((a, b) => unmetCount(a) - unmetCount(b))
  const shown = sorted.slice(0, most)
  const noneCan = sorted.every((place) => unmetCount(place) > 0)
  // A namespace that a worker does not serve is no part of the requirement that it declares.
  const others = shown.flatMap(({ lacking = [] }) => lacking.filter((one) => !needs.includes(one)))
  const all = [...new Set([...needs, ...others])]
  return {
    hidden: sorted.length - shown.length,
    workers: shown.map((place, i) => ({
      name: place.name,
      unmetCount: unmetCount(place),
      canTake: unmetCount(place) === 0,
      isNearest: noneCan && i === 0,
    })),
    rows: [
      ...all.map((need) => ({
        need,
        cells: shown.map(({ lacking = [] }) =>
          cellOf(!lacking.includes(need), 'has it', 'lacks it'),
        ),
      })),
      {
        need: CONNECTED,
        cells: shown.map((place) => cellOf(isConnected(place), 'online', place.status)),
      },
      {
        need: FREE_SLOT,
        cells: shown.map((place) => {
          const load = `${place.used} of ${place.capacity ?? 'any number'}`
          return cellOf(hasFreeSlot(place), `free, holds ${load}`, `full, holds ${load}`)
        }),
      },
    ],
  }
}

const cellOf = (isMet: boolean, met: string, unmet: string): MatrixCell => ({
  isMet,
  word: isMet ? met : unmet,
})
