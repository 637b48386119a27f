import type { ListRequest, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import {
  type DeclaredWorkflow,
  withInputSchema,
} from '@windlass/python-analysis/declared-workflows'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { keyOf, type WorkflowName } from './workflow-versions.ts'

/** Version to be inserted. */
export interface NewVersion extends DeclaredWorkflow {
  id: string
  version: number
}

/** Facts that the versions of one upload share. */
export interface Upload {
  /** Hash of the source, in hex. */
  sha256: string
  created_by: string
  created_by_issuer: string
}

interface Row {
  id: string
  namespace: string
  name: string
  version: number
  imports: string
  metadata: string
  requests: string
  affinity: string
  requirement: string
  input_schema: string | undefined
  created_at: Date
  created_by: string
  created_by_issuer: string
  bytes?: Buffer
}

/** Columns for lists, which can be long: without input schema and source. */
const listed = sql`
  v.id, v.namespace, v.name, v.version, v.imports, v.metadata, v.requests, v.affinity,
  v.requirement, v.created_at, v.created_by, v.created_by_issuer`
/** The same with nothing that a source declares. */
const named = sql`
  v.id, v.namespace, v.name, v.version, '[]' as imports, '{}' as metadata, '' as requests, '' as affinity,
  '{"packages": [], "affinity": {}, "runner": ""}' as requirement, v.created_at, v.created_by, v.created_by_issuer`
const whole = sql`${listed}, v.input_schema`

/** Inserts the versions of one upload; returns their common time. */
export const insert = (tx: Tx, versions: NewVersion[], upload: Upload) =>
  tx.maybe<{ created_at: Date }>(sql`
    insert into versions (id, namespace, name, version, imports, metadata, requests, affinity,
                          requirement, input_schema, source_sha256, created_by,
                          created_by_issuer)
    select id, namespace, name, version, imports::json, metadata::json, requests::json,
           affinity::json, requirement::json, input_schema::json,
           ${Buffer.from(upload.sha256, 'hex')}::bytea, ${upload.created_by},
           ${upload.created_by_issuer}
      from unnest(${versions.map(({ id }) => id)}::uuid[],
                  ${versions.map(({ namespace }) => namespace)}::text[],
                  ${versions.map(({ name }) => name)}::text[],
                  ${versions.map(({ version }) => version)}::int[],
                  ${versions.map(({ imports }) => JSON.stringify(imports))}::text[],
                  ${versions.map(({ metadata_json }) => metadata_json)}::text[],
                  ${versions.map(({ requests_json }) => requests_json)}::text[],
                  ${versions.map(({ affinity_json }) => affinity_json)}::text[],
                  ${versions.map(({ requirement }) => JSON.stringify(requirement))}::text[],
                  ${versions.map(({ input_schema_json }) => input_schema_json || null)}::text[])
        as new (id, namespace, name, version, imports, metadata, requests, affinity, requirement,
                input_schema)
    returning created_at`)

/** Returns a version by number, or the latest with 0. */
export async function find(
  db: Queries,
  { namespace, name }: WorkflowName,
  version: number,
  withSource: boolean,
): Promise<Workflow | undefined> {
  const row = await db.maybe<Row>(sql`
    select ${whole}, case when ${withSource} then s.bytes end as bytes
      from versions v left join sources s on ${withSource} and s.sha256 = v.source_sha256
     where v.namespace = ${namespace} and v.name = ${name} and v.deleted_at is null
       and (${version}::int = 0 or v.version = ${version}::int)
     order by v.version desc
     limit 1`)
  return row && toWorkflow(row)
}

/** Returns a version with its source, deleted or not. */
export async function findById(db: Queries, id: string): Promise<Workflow | undefined> {
  const row = await db.maybe<Row>(sql`
    select ${whole}, s.bytes
      from versions v join sources s on s.sha256 = v.source_sha256
     where v.id = ${id}`)
  return row && toWorkflow(row)
}

/** Lists the latest version of each workflow of a namespace, or of all with ''. */
export async function listLatest(
  db: Queries,
  { namespace, names_only, limit, after_namespace, after_name }: ListRequest,
): Promise<Workflow[]> {
  const rows = await db.rows<Row>(sql`
    select ${names_only ? named : listed}
      from names n
      join lateral (
        select * from versions
         where namespace = n.namespace and name = n.name and deleted_at is null
         order by version desc
         limit 1) v on true
     where (${namespace} = '' or n.namespace = ${namespace})
       and (n.namespace, n.name) > (${after_namespace}, ${after_name})
     order by n.namespace, n.name
     limit ${limit > 0 ? limit : null}::bigint`)
  return rows.map(toWorkflow)
}

/** Returns the latest versions, by key, of the named workflows whose latest version has this source. */
export async function findLatestFromSource(
  tx: Tx,
  names: WorkflowName[],
  sha256: string,
): Promise<
  Map<
    string,
    Pick<Row, 'id' | 'version' | 'created_at' | 'created_by' | 'created_by_issuer'> & WorkflowName
  >
> {
  const rows = await tx.rows<Row & { same: boolean }>(sql`
    select distinct on (v.namespace, v.name)
           v.id, v.namespace, v.name, v.version, v.created_at, v.created_by,
           v.created_by_issuer, v.source_sha256 = ${Buffer.from(sha256, 'hex')}::bytea as same
      from versions v
      join unnest(${names.map(({ namespace }) => namespace)}::text[],
                  ${names.map(({ name }) => name)}::text[]) as wanted (namespace, name)
        on v.namespace = wanted.namespace and v.name = wanted.name
     where v.deleted_at is null
     order by v.namespace, v.name, v.version desc`)
  return new Map(rows.filter(({ same }) => same).map((row) => [keyOf(row), row]))
}

/** Lists the versions of a workflow, newest first. */
export async function listVersions(
  db: Queries,
  { namespace, name }: WorkflowName,
): Promise<Workflow[]> {
  const rows = await db.rows<Row>(sql`
    select ${listed}
      from versions v
     where v.namespace = ${namespace} and v.name = ${name} and v.deleted_at is null
     order by v.version desc`)
  return rows.map(toWorkflow)
}

/** Marks one version as deleted, or all with 0; returns the count. */
export const remove = (tx: Tx, { namespace, name }: WorkflowName, version: number) =>
  tx.run(sql`
    update versions
       set deleted_at = now()
     where namespace = ${namespace} and name = ${name} and deleted_at is null
       and (${version}::int = 0 or version = ${version}::int)`)

/** True if a workflow has a version that is not deleted. */
export async function hasVersions(tx: Tx, { namespace, name }: WorkflowName): Promise<boolean> {
  const row = await tx.maybe(sql`
    select version from versions
     where namespace = ${namespace} and name = ${name} and deleted_at is null
     limit 1`)
  return row !== undefined
}

/** Converts a row to the record of a version; JSON texts stay as they are stored. */
function toWorkflow(row: Row): Workflow {
  const { metadata, requests, affinity, requirement, input_schema = '', imports, bytes } = row
  return {
    id: row.id,
    namespace: row.namespace,
    name: row.name,
    version: row.version,
    source: bytes ?? Buffer.alloc(0),
    imports: JSON.parse(imports) as string[],
    metadata_json: withInputSchema(metadata, input_schema),
    requests_json: requests,
    affinity_json: affinity,
    requirement: { ...(JSON.parse(requirement) as Requirement), namespace: row.namespace },
    input_schema_json: input_schema,
    created_at: row.created_at,
    created_by: row.created_by,
    created_by_issuer: row.created_by_issuer,
  }
}
