import { migrateMain } from '@windlass/runtime/migrate'

await migrateMain('catalog', new URL('../migrations/', import.meta.url))
