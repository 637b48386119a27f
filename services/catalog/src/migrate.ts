import { migrateMain } from '@windlass/runtime/postgres/migrate'

await migrateMain('catalog', new URL('../migrations/', import.meta.url))
