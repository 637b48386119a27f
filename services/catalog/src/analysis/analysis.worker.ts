import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { analyse } from '@windlass/python-analysis/analyse'
import { openParser } from '@windlass/python-analysis/parser'
import { Fault } from '@windlass/runtime/faults'
import type { WorkerReply, WorkerSetup } from './protocol.ts'

// Body of an analysis thread: analyses one source at a time and keeps no state between sources.

const WARM_UP_TASKS = 300

const require = createRequire(import.meta.url)
const { sdkModules, maxParserBytes } = workerData as WorkerSetup
const parser = await openParser({
  runtimeFile: require.resolve('web-tree-sitter/web-tree-sitter.wasm'),
  grammarFile: require.resolve('tree-sitter-python/tree-sitter-python.wasm'),
  maxBytes: maxParserBytes,
})
warmUp()

parentPort?.on('message', (bytes: Uint8Array) => {
  const reply = answer(bytes)
  parentPort?.postMessage({ ...reply, parserBytes: parser.memoryBytes() })
})
parentPort?.postMessage('ready')

/** Compiles the hot paths before the first source: 13 ms of processor time for it instead of 45. */
function warmUp(): void {
  const task = (i: number) =>
    `@task\nasync def f_${i}(a: int):\n    return await g([a, ${i}], k={"b": a})\n`
  const tasks = Array.from({ length: WARM_UP_TASKS }, (_, i) => task(i)).join('')
  const sdk = `from ${sdkModules[0]} import task, workflow\n`
  answer(Buffer.from(`${sdk}${tasks}@workflow\nasync def w(ctx): await f_0(ctx)\n`))
}

function answer(bytes: Uint8Array): WorkerReply {
  try {
    return { workflows: analyse(bytes, parser, sdkModules) }
  } catch (error) {
    if (error instanceof Fault) {
      const { kind, message, details } = error
      return { fault: { kind, message, details } }
    }
    // The parser ran out of memory and is unusable from here on; the thread ends with it.
    if (error instanceof Error && error.name === 'RuntimeError') throw error
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
