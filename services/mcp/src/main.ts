import { main } from '@windlass/runtime/process/main'
import { start } from './server.ts'
import { mainOptions } from './stdio.ts'

await main('mcp', start, mainOptions())
