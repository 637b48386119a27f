import { migrateMain } from '@windlass/runtime/migrate'

await migrateMain('dispatcher', new URL('../migrations/', import.meta.url))
