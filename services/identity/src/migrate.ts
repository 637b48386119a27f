import { migrateMain } from '@windlass/runtime/postgres/migrate'

await migrateMain('identity', new URL('../migrations/', import.meta.url))
