import { createHash } from 'node:crypto'
import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** Upload as its client saw it; each has a different source. */
export interface Upload {
  source: Buffer
  names: string[]
  sent: number
  /** Absent without an answer: the upload may be stored or not. */
  answered?: number
  given?: Map<string, number>
}

interface Stored {
  name: string
  version: number
  source: string
}

/**
 * Lists the violations in a history of uploads to one namespace: a duplicate or missing number (K1),
 * an acknowledged upload that is not stored as answered (K2), a later upload with a smaller number, a
 * partly stored file (K3). Deleted versions count too.
 */
export async function faultsIn(
  db: Queries,
  namespace: string,
  uploads: Upload[],
): Promise<string[]> {
  const rows = await db.rows<Stored>(sql`
    select name, version, encode(source_sha256, 'hex') as source
      from catalog.versions where namespace = ${namespace} order by name, version`)
  const names = new Set(uploads.flatMap((upload) => upload.names))
  return [
    ...[...names].flatMap((name) => gaps(name, rows)),
    ...uploads.flatMap((upload) => torn(upload, rows)),
    ...[...names].flatMap((name) => disorder(name, uploads)),
  ]
}

function gaps(name: string, rows: Stored[]): string[] {
  const versions = rows.filter((row) => row.name === name).map(({ version }) => version)
  return versions.flatMap((version, i) =>
    version === i + 1 ? [] : [`${name}: version ${version} is the ${i + 1}. one`],
  )
}

function torn({ source, names, given }: Upload, rows: Stored[]): string[] {
  const sha256 = createHash('sha256').update(source).digest('hex')
  const stored = new Map(
    rows.filter((row) => row.source === sha256).map(({ name, version }) => [name, version]),
  )
  if (!given) {
    const whole = stored.size === 0 || stored.size === names.length
    return whole ? [] : [`of ${names} only ${[...stored.keys()]} is stored`]
  }
  return names.flatMap((name) =>
    stored.get(name) === given.get(name)
      ? []
      : [`${name}: answered ${given.get(name)}, stored ${stored.get(name)}`],
  )
}

/** Violations of real-time order: an upload sent after the answer to another has a greater number. */
function disorder(name: string, uploads: Upload[]): string[] {
  const answered = uploads.filter(({ given }) => given?.has(name))
  const numberOf = ({ given }: Upload) => given?.get(name) as number
  const bySending = answered.toSorted((a, b) => a.sent - b.sent)
  const byAnswer = answered.toSorted((a, b) => (a.answered ?? 0) - (b.answered ?? 0))
  const faults: string[] = []
  let highest = 0
  let next = 0
  for (const upload of bySending) {
    for (let before = byAnswer[next]; before && (before.answered ?? 0) < upload.sent; ) {
      highest = Math.max(highest, numberOf(before))
      before = byAnswer[++next]
    }
    if (numberOf(upload) < highest)
      faults.push(`${name}: ${numberOf(upload)} was assigned after ${highest}`)
  }
  return faults
}
