import pg from 'pg'

/** A row of schedule_ticks: one fired tick, or a range of skipped ones. */
interface Row {
  schedule_id: string
  status: string
  first: Date
  last: Date
  execution_id: string | null
  error: string | null
}

export interface Ledger {
  fired: number
  skipped: Record<string, number>
  /** Delays of the fired ticks, in milliseconds. */
  delays: number[]
  /** Violations; empty if every tick fired once or was skipped with a reason. */
  faults: string[]
}

const SECOND_MS = 1_000

/**
 * Compares the recorded ticks of schedules of one second with the expected ones: from the first tick
 * to `until` every second occurs once, a fired tick has its execution, a skipped one a reason, and no
 * other execution exists.
 */
export async function readLedger(database: string, made: Map<string, Date>, until: Date) {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    const { rows } = await client.query<Row>(`
      select replace(schedule_id::text, '-', '') as schedule_id, status,
             coalesce(skipped_from, nominal_at) as first, nominal_at as last, execution_id, error
        from scheduler.schedule_ticks order by schedule_id, nominal_at`)
    const executions = await client.query<{ execution_id: string; created_at: Date }>(
      'select execution_id, created_at from executions.executions where schedule_id is not null',
    )
    const createdAt = new Map(executions.rows.map((row) => [row.execution_id, row.created_at]))
    return compare(rows, { made, until, createdAt })
  } finally {
    await client.end()
  }
}

interface Expected {
  made: Map<string, Date>
  until: Date
  createdAt: Map<string, Date>
}

function compare(rows: Row[], { made, until, createdAt }: Expected): Ledger {
  const ledger: Ledger = { fired: 0, skipped: {}, delays: [], faults: [] }
  const next = new Map([...made].map(([id, first]) => [id, first.getTime()]))
  const seen = new Set<string>()
  for (const row of rows) {
    const expected = next.get(row.schedule_id)
    if (row.first.getTime() !== expected) addFault(ledger, row, `expected ${expected}`)
    next.set(row.schedule_id, row.last.getTime() + SECOND_MS)
    if (row.status === 'skipped') recordSkipped(ledger, row)
    else recordFired(ledger, row, { createdAt, seen })
  }
  for (const [id, at] of next)
    if (at < until.getTime()) ledger.faults.push(`${id}: nothing after ${at}`)
  for (const id of createdAt.keys())
    if (!seen.has(id)) ledger.faults.push(`execution ${id} belongs to no tick`)
  return ledger
}

const addFault = ({ faults }: Ledger, row: Row, what: string) =>
  faults.push(`${row.schedule_id} ${row.first.getTime()}: ${what}`)

function recordSkipped(ledger: Ledger, row: Row): void {
  if (!row.error) addFault(ledger, row, 'skipped without a reason')
  const reason = row.error ?? ''
  const ticks = 1 + (row.last.getTime() - row.first.getTime()) / SECOND_MS
  ledger.skipped[reason] = (ledger.skipped[reason] ?? 0) + ticks
}

interface Executions {
  createdAt: Map<string, Date>
  seen: Set<string>
}

function recordFired(ledger: Ledger, row: Row, { createdAt, seen }: Executions): void {
  const { status, execution_id: id, last } = row
  if (status !== 'started' || !id) return void addFault(ledger, row, status)
  const created = createdAt.get(id)
  if (created) ledger.delays.push(created.getTime() - last.getTime())
  else addFault(ledger, row, 'execution missing')
  if (seen.has(id)) addFault(ledger, row, 'fired twice')
  seen.add(id)
  ledger.fired++
}
