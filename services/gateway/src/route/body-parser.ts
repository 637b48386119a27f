import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { BodyTask, ReaderName, ReaderResult } from './body-task.ts'

/** Parses bodies; large ones not on the event loop. */
export interface BodyParser {
  /** The bytes must not be used after the call, because those of a large body move to a thread. */
  parse<N extends ReaderName>(bytes: Buffer, task: BodyTask<N>): Promise<ReaderResult<N>>
}

/** Version of a workflow with the schema that it declares for its input; empty if it declares none. */
export type InputSchema = Pick<Workflow, 'id' | 'input_schema_json'>

/** Validates inputs against the schemas of workflows; large ones not on the event loop. */
export interface InputValidator {
  /** Throws `unprocessable` with the problems found. */
  check(schema: InputSchema, input_json: string): Promise<void>
}
