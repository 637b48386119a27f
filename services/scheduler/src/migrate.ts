import { migrateMain } from '@windlass/runtime/migrate'

await migrateMain('scheduler', new URL('../migrations/', import.meta.url))
