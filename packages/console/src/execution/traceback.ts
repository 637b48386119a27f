/** Frames of a traceback of Python, as a worker stores it in an error. */

/** A version of a workflow, as workers name its source in tracebacks. */
export interface SourceVersion {
  namespace: string
  name: string
  version: number
}

export interface Frame {
  /** Undefined: a file of the worker, whose source the server does not have. */
  source: SourceVersion | undefined
  file: string
  /** From 1. */
  line: number
  /** Name of the function. */
  within: string
  /** The lines below, as they were stored: code, and marks of its part that failed. */
  code: string
}

const FRAME = /^ {2}File "(.*)", line (\d{1,9})(?:, in (.*))?$/
const SOURCE = /^<([^/<>]+)\/(.+) version (\d{1,9})>$/

function sourceOfFile(file: string): SourceVersion | undefined {
  const [, namespace, name, version] = SOURCE.exec(file) ?? []
  return namespace !== undefined && name !== undefined
    ? { namespace, name, version: Number(version) }
    : undefined
}

/** Reads the frames of a traceback, outermost first; other lines belong to the frame above them. */
export function framesOf(traceback: string): Frame[] {
  const frames: Frame[] = []
  for (const text of traceback.split('\n')) {
    const [, file, line, within = ''] = FRAME.exec(text) ?? []
    const last = frames.at(-1)
    if (file !== undefined)
      frames.push({ source: sourceOfFile(file), file, line: Number(line), within, code: '' })
    else if (last && text.trim() !== '') last.code += `${last.code && '\n'}${text}`
  }
  return frames
}

export const isSameSource = (a: SourceVersion, b: SourceVersion): boolean =>
  a.namespace === b.namespace && a.name === b.name && a.version === b.version

/** The versions that frames are of, each once. */
export function sourcesOf(frames: readonly Frame[]): SourceVersion[] {
  const found: SourceVersion[] = []
  for (const { source } of frames)
    if (source && !found.some((one) => isSameSource(one, source))) found.push(source)
  return found
}

/** A line of a source without its indentation; undefined if the source is shorter. */
export const lineOf = (source: string, line: number): string | undefined =>
  source.split('\n')[line - 1]?.trim()

/** The part of a failure in which a line took part. */
type LineKind = 'failed' | 'passed'

/** Lines of a version that a failure passed through; the innermost frame is where it failed. */
export function failedLines(
  frames: readonly Frame[],
  version: SourceVersion,
): ReadonlyMap<number, LineKind> {
  const lines = new Map<number, LineKind>()
  const own = frames.filter(({ source }) => source && isSameSource(source, version))
  for (const { line } of own) lines.set(line, 'passed')
  const last = own.at(-1)
  if (last) lines.set(last.line, 'failed')
  return lines
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Line at which the function of a task begins, found by its own name or by the name in its options. */
export function taskLine(source: string, task: string): number | undefined {
  const lines = source.split('\n')
  const begins = new RegExp(`^\\s*(?:async\\s+)?def\\s+${escaped(task)}\\s*[(\\[]`)
  const direct = lines.findIndex((text) => begins.test(text))
  if (direct >= 0) return direct + 1
  const named = lines.findIndex((text) =>
    new RegExp(`name\\s*=\\s*["']${escaped(task)}["']`).test(text),
  )
  if (named < 0) return undefined
  const below = lines.slice(named).findIndex((text) => /^\s*(?:async\s+)?def\s/.test(text))
  return below < 0 ? undefined : named + below + 1
}
