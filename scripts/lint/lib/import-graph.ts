import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { listFiles } from './files.ts'
import { pythonTokens } from './python-tokens.ts'
import { type ScriptToken, scriptTokens } from './script-tokens.ts'

/** File to the files that it imports, type imports included. */
export type Graph = Map<string, Set<string>>

const quoted = ({ type, text }: ScriptToken) => (type === 'string' ? text.slice(1, -1) : undefined)

/**
 * Specifiers of all imports of a TypeScript or JavaScript file: static, dynamic, of types, re-exports.
 */
export function scriptImports(source: string): string[] {
  const tokens = scriptTokens(source).filter(({ type }) => type !== 'comment')
  return tokens.flatMap((token, i) => {
    const before = tokens[i - 1]?.text
    const isImport =
      before === 'from' ||
      before === 'import' ||
      (before === '(' && tokens[i - 2]?.text === 'import')
    const specifier = isImport ? quoted(token) : undefined
    return specifier === undefined ? [] : [specifier]
  })
}

/** Tokens of each logical line of a Python file, without comments. */
function pythonLines(source: string): string[][] {
  const lines: string[][] = [[]]
  for (const token of pythonTokens(source)) {
    if (token.type === 'newline') lines.push([])
    else if (token.type !== 'comment') lines.at(-1)?.push(token.text)
  }
  return lines
}

/**
 * Modules that a Python file may import, dots of relative imports in front. `from a import b`
 * yields `a.b` before `a`: `b` is a module or a name of `a`.
 */
export function pythonImports(source: string): string[][] {
  return pythonLines(source).flatMap((line) => {
    if (line[0] === 'import')
      return line
        .slice(1)
        .join('')
        .split(',')
        .map((name) => [name])
    const at = line.indexOf('import')
    if (line[0] !== 'from' || at < 0) return []
    const module = line.slice(1, at).join('')
    const names = line
      .slice(at + 1)
      .filter((word, i, all) => /^\w/.test(word) && word !== 'as' && all[i - 1] !== 'as')
    return names.map((name) => [module.endsWith('.') ? module + name : `${module}.${name}`, module])
  })
}

interface Manifest {
  name: string
  exports?: Record<string, { windlass?: string }>
}

/** Folder of the source of each workspace package by its name. */
function workspacePackages(files: string[]): Map<string, string> {
  const manifests = files.filter((file) => /^(?:proto|[\w-]+\/[\w-]+)\/package\.json$/.test(file))
  return new Map(
    manifests.flatMap((file) => {
      const { name, exports }: Manifest = JSON.parse(readFileSync(file, 'utf8'))
      const target = exports?.['./*']?.windlass
      return target ? [[name, join(dirname(file), target)] as const] : []
    }),
  )
}

const PACKAGE = /^(@windlass\/[\w-]+)\/(.+)$/

/** File that a specifier names, or undefined if it is outside of the repository. */
function resolveScript(from: string, specifier: string, packages: Map<string, string>) {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier))
  const [, name, path] = PACKAGE.exec(specifier) ?? []
  return name && path ? packages.get(name)?.replace('*', path) : undefined
}

const PYTHON_ROOT = 'sdk/python/src'

/** File of a Python module below the root, or undefined. */
function resolvePython(from: string, module: string) {
  const [, dots = '', path = ''] = /^(\.*)(.*)$/.exec(module) ?? []
  const base = dots ? join(dirname(from), '../'.repeat(dots.length - 1)) : PYTHON_ROOT
  const file = join(base, path.replaceAll('.', '/'))
  return [`${file}.py`, `${file}/__init__.py`].find((candidate) => existsSync(candidate))
}

const isScript = (file: string) => /\.(?:ts|mjs)$/.test(file)
const isPython = (file: string) => file.endsWith('.py') && file.startsWith(PYTHON_ROOT)

/** Import graph of all TypeScript and JavaScript files and of the Python SDK. */
export function importGraph(): Graph {
  const files = listFiles()
  const packages = workspacePackages(files)
  const targetsOf = (file: string, source: string) =>
    isScript(file)
      ? scriptImports(source).map((specifier) => resolveScript(file, specifier, packages))
      : pythonImports(source).map((modules) =>
          modules.map((module) => resolvePython(file, module)).find(Boolean),
        )
  const sources = files.filter((file) => isScript(file) || isPython(file))
  const known = new Set(sources)
  return new Map(
    sources.map((file) => {
      const targets = targetsOf(file, readFileSync(file, 'utf8')).filter(
        (target) => target !== undefined,
      )
      return [
        file,
        new Set<string>(targets.filter((target) => target !== file && known.has(target))),
      ]
    }),
  )
}
