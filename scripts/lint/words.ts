import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { listFiles } from './lib/files.ts'
import { isCovered } from './lib/texts.ts'
import { applyExceptions, type Exception, type Violation, violationsIn } from './lib/violations.ts'
import { wordsIn } from './lib/word-list.ts'

/** Commits up to this one are older than the rule for subjects. */
const LAST_UNCHECKED_COMMIT = 'e889e1f'

/** Generated files, data of the static analysis, and the word list with its tests. */
const EXCLUDED =
  /^(?:proto\/gen\/|docs\/(?:openapi\.json|access\.md|rpcs\.md)$|scripts\/lint\/lib\/word-list\.ts$|scripts\/test\/words\.test\.)|(?:^|\/)(?:corpus|golden)\/|\.golden$|(?:^|\/)pnpm-lock\.yaml$|\.lock$|node_modules\/|(?:^|\/)dist\//

const ALLOWED = fileURLToPath(new URL('words-allow.json', import.meta.url))

/**
 * Checks the wording of comments, doc strings, test titles, documents, log and error strings and
 * commit subjects against the word list (lib/word-list.ts). `docs/glossary.md` has the terms to use.
 * Without paths it prints a summary per group and per folder of the whole repository; with paths each
 * place below them. Returns true if nothing is found. Exceptions, each with its reason, are in
 * words-allow.json.
 */
export function checkWords(paths: string[] = []): boolean {
  const exceptions: Exception[] = JSON.parse(readFileSync(ALLOWED, 'utf8'))
  const isWhole = paths.length === 0
  const violations = [...inFiles(paths), ...(isWhole ? inCommits() : [])]
  const { left, unused } = applyExceptions(violations, exceptions)
  const stale = isWhole ? unused : []
  if (!isWhole) printPlaces(left)
  else if (left.length > 0) printSummary(left)
  for (const { file, group, text } of stale)
    console.log(
      `words-allow.json: remove the entry that covers nothing: ${file}: ${group}: ${text}`,
    )
  console.log(`words: ${left.length} found, ${exceptions.length} exceptions`)
  return left.length + stale.length === 0
}

/** Subjects since the rule began; empty in a clone without that history. */
function commitSubjects(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    git('merge-base', '--is-ancestor', LAST_UNCHECKED_COMMIT, 'HEAD')
  } catch {
    return []
  }
  return git('log', '--no-merges', '--format=%s', `${LAST_UNCHECKED_COMMIT}..HEAD`)
    .split('\n')
    .filter(Boolean)
}

const inCommits = (): Violation[] =>
  commitSubjects().flatMap((text) =>
    wordsIn('commit', text).map(({ group }) => ({
      file: 'commit',
      line: 0,
      group,
      word: text,
      text,
    })),
  )

const inFiles = (paths: string[]): Violation[] =>
  listFiles(paths)
    .filter((path) => isCovered(path) && !EXCLUDED.test(path))
    .flatMap((path) => violationsIn(path, readFileSync(path, 'utf8')))

/** First two folders of a path. */
const folderOf = (file: string) => file.split('/').slice(0, -1).slice(0, 2).join('/') || '.'

function countBy<T>(items: T[], keyOf: (item: T) => string): [key: string, count: number][] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

function printPlaces(violations: Violation[]): void {
  for (const { file, line, group, word, text } of violations)
    console.log(`${file}:${line}: ${group}: ${word}: ${text.slice(0, 200)}`)
}

function printSummary(violations: Violation[]): void {
  printCounts('group', violations, ({ group }) => group)
  printCounts('folder', violations, ({ file }) => folderOf(file))
  for (const { group, text } of violations)
    if (group === 'commit') console.log(`commit subject is not \`scope: imperative\`: ${text}`)
}

function printCounts(
  title: string,
  violations: Violation[],
  keyOf: (violation: Violation) => string,
): void {
  console.log(`per ${title}:`)
  for (const [key, count] of countBy(violations, keyOf))
    console.log(`${String(count).padStart(6)}  ${key}`)
}
