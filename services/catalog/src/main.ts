import { main } from '@windlass/runtime/main'
import { start } from './server.ts'

await main('catalog', start)
