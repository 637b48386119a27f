import { linesOf } from '../ui/source-lines.ts'
import { taskLine } from './traceback.ts'

/**
 * Lines of a source in which a task is called, from 1. The log has no lines of calls, so they are found by
 * the name of the function, outside of strings, comments and its definition. Where it is nowhere followed by
 * arguments, as in `parallel(fetch, urls)`, they are the lines that name it.
 */
export function callLines(source: string, task: string): number[] {
  const defined = taskLine(source, task)
  const lines = linesOf(source).map((parts) =>
    parts.map(({ kind, text }) => (IS_CODE.has(kind) ? text : ' ')).join(''),
  )
  const name = /def\s+(\w+)/.exec(lines[(defined ?? 0) - 1] ?? '')?.[1] ?? task
  if (!/^\w+$/.test(name)) return []
  const code = lines.map((text, i) => (i + 1 === defined || IMPORT.test(text) ? '' : text))
  const find = (pattern: RegExp) => code.flatMap((text, i) => (pattern.test(text) ? [i + 1] : []))
  const called = find(new RegExp(`${NOT_OTHER}\\b${name}\\s*\\(`))
  return called.length > 0 ? called : find(new RegExp(`${NOT_OTHER}\\b${name}\\b(?!\\s*=)`))
}

const IS_CODE = new Set([undefined, 'word'])
const IMPORT = /^\s*(?:from|import)\b/
/** The functions of these modules are not those of the SDK. */
const NOT_OTHER = '(?<!\\b(?:asyncio|time)\\.)'
