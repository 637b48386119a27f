import { migrateMain } from '@windlass/runtime/postgres/migrate'

await migrateMain('dispatcher', new URL('../migrations/', import.meta.url))
