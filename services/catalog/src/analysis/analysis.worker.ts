import { parentPort, workerData } from 'node:worker_threads'
import { Fault } from '@windlass/runtime/faults'
import { openParser } from './parser.ts'
import type { Reply, Setup } from './protocol.ts'
import { readSource } from './read-source.ts'

// The body of an analysis thread: it reads one source at a time and holds nothing between them.

const WARM_UP_TASKS = 300

const { sdkModules, maxParserBytes } = workerData as Setup
const parser = await openParser(maxParserBytes)
warmUp()

parentPort?.on('message', (bytes: Uint8Array) => {
  const reply = answer(bytes)
  parentPort?.postMessage({ ...reply, parserBytes: parser.memoryBytes() })
})
parentPort?.postMessage('ready')

/** The first source would otherwise pay for what is compiled at first use. */
function warmUp(): void {
  const task = (i: number) =>
    `@task\nasync def f_${i}(a: int):\n    return await g([a, ${i}], k={"b": a})\n`
  const tasks = Array.from({ length: WARM_UP_TASKS }, (_, i) => task(i)).join('')
  const sdk = `from ${sdkModules[0]} import task, workflow\n`
  answer(Buffer.from(`${sdk}${tasks}@workflow\nasync def w(ctx): await f_0(ctx)\n`))
}

function answer(bytes: Uint8Array): Reply {
  try {
    return { workflows: readSource(bytes, parser, sdkModules) }
  } catch (error) {
    if (error instanceof Fault) {
      const { kind, message, details } = error
      return { fault: { kind, message, details } }
    }
    // The parser has run out of memory and is of no use any more; the thread ends with it.
    if (error instanceof Error && error.name === 'RuntimeError') throw error
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
