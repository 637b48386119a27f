import { parentPort, workerData } from 'node:worker_threads'
import { Fault } from '@windlass/runtime/faults'
import { openParser } from './parser.ts'
import type { Reply, Setup } from './protocol.ts'
import { readSource } from './read-source.ts'

// The body of an analysis thread: it reads one source at a time and holds nothing between them.

const { sdkModules, maxParserBytes } = workerData as Setup
const parser = await openParser(maxParserBytes)

parentPort?.on('message', (bytes: Uint8Array) => {
  const reply = answer(bytes)
  parentPort?.postMessage({ ...reply, parserBytes: parser.memoryBytes() })
})
parentPort?.postMessage('ready')

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
