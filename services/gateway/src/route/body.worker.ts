import { parentPort } from 'node:worker_threads'
import { InputSchemaCache } from '@windlass/domain/input/input-schemas'
import { runBodyTask, toFailure } from './body-task.ts'
import type { ThreadReply, ThreadTask } from './body-threads.ts'

// Body of a thread that parses large bodies, one at a time; it keeps compiled schemas only.

const schemas = new InputSchemaCache()

parentPort?.on('message', (message: ThreadTask) => parentPort?.postMessage(answer(message)))

function answer(message: ThreadTask): ThreadReply {
  try {
    if ('schema' in message) return { value: schemas.check(message.schema, message.input_json) }
    return { value: runBodyTask(message.bytes, message.task) }
  } catch (error) {
    return toFailure(error)
  }
}
