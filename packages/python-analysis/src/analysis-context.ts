import type { Node } from 'web-tree-sitter'
import type { Budget } from './python/budget.ts'

/** State and settings of the analysis of one source. */
export interface AnalysisContext {
  budget: Budget
  /** Modules whose names count as the SDK. */
  sdkModules: string[]
  /** Parses the text of a quoted type; undefined if it is not one expression. */
  parse(expression: string): Node | undefined
}
