import { main } from '@windlass/runtime/main'
import { start } from './server.ts'

await main('scheduler', start)
