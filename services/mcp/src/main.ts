import { main } from '@windlass/runtime/process/main'
import { start } from './server.ts'
import { logFd } from './stdio.ts'

await main('mcp', start, logFd())
