import type { DeclaredWorkflow } from '@windlass/python-analysis/declared-workflows'
import type { Kind } from '@windlass/runtime/faults'

/** Start options of an analysis thread. */
export interface WorkerSetup {
  sdkModules: string[]
  maxParserBytes: number
}

/** Answer of a thread to one source: its workflows, the refusal, or an unexpected error. */
export type WorkerReply =
  | { workflows: DeclaredWorkflow[] }
  | { fault: { kind: Kind; message: string; details: Record<string, unknown> | undefined } }
  | { error: string }

/** The reply with the memory that the parser holds; it never returns any. */
export type WorkerMessage = WorkerReply & { parserBytes: number }
