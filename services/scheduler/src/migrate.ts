import { migrateMain } from '@windlass/runtime/postgres/migrate'

await migrateMain('scheduler', new URL('../migrations/', import.meta.url))
