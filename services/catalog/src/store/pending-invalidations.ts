import type { MarkerTable } from '@windlass/runtime/cache-generation'
import { sql } from '@windlass/runtime/postgres/sql'

/**
 * Markers of uploads and deletions after which the generation of the catalog cache has not been replaced
 * yet.
 */
export const catalogMarkers: MarkerTable = {
  cache: 'catalog',
  table: sql`pending_epochs`,
  key: sql`token`,
  insert: sql`insert into pending_epochs (token) values (gen_random_uuid())`,
}
