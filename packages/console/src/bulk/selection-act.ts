import { useEffect, useState } from 'preact/hooks'
import { actOnEach } from '../api/acts.ts'
import type { BulkAct, BulkProgress } from '../api/bulk.ts'
import type { ExecutionRow } from '../api/executions.ts'

interface SelectionAct {
  isBusy: boolean
  progress: BulkProgress | undefined
  /** Acts on the rows, unless an act is under way. */
  start(rows: readonly ExecutionRow[], act: BulkAct, onDone: () => void): void
}

type State = Pick<SelectionAct, 'isBusy' | 'progress'>

const IDLE: State = { isBusy: false, progress: undefined }
/** The act of this page on selected rows, which continues while its panel is not shown. */
let current = IDLE
const CHANGED = 'console:selection-act'

function change(next: State): void {
  current = next
  window.dispatchEvent(new Event(CHANGED))
}

async function run(rows: readonly ExecutionRow[], act: BulkAct): Promise<void> {
  change({ isBusy: true, progress: undefined })
  try {
    for await (const progress of actOnEach(rows, act)) change({ isBusy: true, progress })
  } finally {
    change({ ...current, isBusy: false })
  }
}

/**
 * Acts on selected rows, one act at a time. A panel that is opened again while one is under way shows its progress, so that
 * the act is not started a second time.
 */
export function useSelectionAct(): SelectionAct {
  const [seen, setSeen] = useState(current.isBusy ? current : IDLE)
  useEffect(() => {
    const update = () => setSeen(current)
    window.addEventListener(CHANGED, update)
    // It may have ended between the drawing and this effect.
    if (seen.isBusy) update()
    return () => window.removeEventListener(CHANGED, update)
  }, [])
  return {
    ...seen,
    start(rows, act, onDone) {
      if (!current.isBusy) void run(rows, act).finally(onDone)
    },
  }
}
