import { basename, extname } from 'node:path'
import { pythonTexts } from './python-texts.ts'
import { scriptTexts, type Text } from './script-texts.ts'

type Reader = (source: string, path: string) => Text[]

/** Comments and strings of proto and SQL; strings come first where they begin first. */
const PROTO =
  /(?<string>"(?:\\.|[^"\\\n])*")|(?<comment>(?:\/\/[^\n]*(?:\n[^\S\n]*(?=\/\/))?)+|\/\*[\s\S]*?\*\/)/g
const SQL =
  /(?<string>'(?:''|[^'])*')|(?<comment>(?:--[^\n]*(?:\n[^\S\n]*(?=--))?)+|\/\*[\s\S]*?\*\/)/g
/** Shell, TOML, YAML, line by line: a hash after white space begins a comment. */
const HASH =
  /(?<string>"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(?<comment>(?<=^|\s)(?:#[^\n]*(?:\n[^\S\n]*(?=#))?)+)/gm

const commentsBy =
  (pattern: RegExp): Reader =>
  (source) =>
    [...source.matchAll(pattern)].flatMap(({ index, groups }) =>
      groups?.comment ? [{ kind: 'comment', text: groups.comment, at: index }] : [],
    )

const isTest = (path: string) => /(?:^|\/)tests?\/|\.test\.\w+$/.test(path)
const script: Reader = (source, path) => scriptTexts(source, isTest(path))
const hash = commentsBy(HASH)

const READERS: Record<string, Reader> = {
  '.ts': script,
  '.mjs': script,
  '.js': script,
  '.cjs': script,
  '.py': pythonTexts,
  '.md': (source) => [{ kind: 'document', text: source, at: 0 }],
  '.proto': commentsBy(PROTO),
  '.sql': commentsBy(SQL),
  '.sh': hash,
  '.toml': hash,
  '.yml': hash,
  '.yaml': hash,
}

const HASH_FILES = new Set(['Dockerfile', '.gitignore', '.npmrc', '.editorconfig', 'run'])

/** Reader of a file, or undefined if the check does not cover its type. */
const readerOf = (path: string) =>
  READERS[extname(path)] ?? (HASH_FILES.has(basename(path)) ? hash : undefined)

/** True if the check covers the file's type. */
export const isCovered = (path: string) => readerOf(path) !== undefined

/** Texts of a file to which the word list applies. */
export const textsOf = (path: string, source: string): Text[] =>
  readerOf(path)?.(source, path) ?? []
