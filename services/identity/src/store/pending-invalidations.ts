import type { MarkerTable } from '@windlass/runtime/cache-generation'
import { sql } from '@windlass/runtime/postgres/sql'

/** Markers of changes of rights after which the generation of the auth cache has not been replaced yet. */
export const authMarkers: MarkerTable = {
  cache: 'auth',
  table: sql`pending_epoch`,
  key: sql`position`,
  insert: sql`insert into pending_epoch (name) values ('auth')`,
}
