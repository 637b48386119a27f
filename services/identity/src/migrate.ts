import { migrateMain } from '@windlass/runtime/migrate'

await migrateMain('identity', new URL('../migrations/', import.meta.url))
