import { migrateMain } from '@windlass/runtime/migrate'

await migrateMain('executions', new URL('../migrations/', import.meta.url))
