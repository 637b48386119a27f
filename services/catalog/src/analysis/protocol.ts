import type { Kind } from '@windlass/runtime/faults'
import type { Declared } from '../domain/analysis.ts'

/** What an analysis thread is started with. */
export interface Setup {
  sdkModules: string[]
  maxParserBytes: number
}

/** What it answers to a source: its workflows, why it is refused, or what went wrong. */
export type Reply =
  | { workflows: Declared[] }
  | { fault: { kind: Kind; message: string; details: Record<string, unknown> | undefined } }
  | { error: string }

/** Sent along: how much memory the parser has taken, which it never gives back. */
export type Message = Reply & { parserBytes: number }
