import { migrateMain } from '@windlass/runtime/postgres/migrate'

await migrateMain('executions', new URL('../migrations/', import.meta.url))
