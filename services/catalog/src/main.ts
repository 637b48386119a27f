import { main } from '@windlass/runtime/process/main'
import { start } from './server.ts'

await main('catalog', start)
