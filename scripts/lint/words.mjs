#!/usr/bin/env node
/**
 * Checks the wording of comments, doc strings, test titles, documents, log and error strings and
 * commit subjects against the word list (lib/word-list.mjs). `docs/glossary.md` has the terms to use.
 *
 *   node scripts/lint/words.mjs           the whole repository: a summary per group and per folder
 *   node scripts/lint/words.mjs PATH…     each place below PATH: `file:line: group: word: text`
 *
 * Exits with 1 if anything is found. Exceptions, each with its reason, are in words-allow.json.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { listFiles } from './lib/files.mjs'
import { isCovered } from './lib/texts.mjs'
import { applyExceptions, violationsIn } from './lib/violations.mjs'
import { wordsIn } from './lib/word-list.mjs'

/** Commits up to this one are older than the rule for subjects. */
const LAST_UNCHECKED_COMMIT = 'e889e1f'

/** Generated files, data of the static analysis, and the word list with its tests. */
const EXCLUDED =
  /^(?:proto\/gen\/|docs\/(?:openapi\.json|access\.md|rpcs\.md)$|scripts\/lint\/lib\/word-list\.mjs$|scripts\/test\/words\.test\.)|(?:^|\/)(?:corpus|golden)\/|\.golden$|(?:^|\/)pnpm-lock\.yaml$|\.lock$|node_modules\/|(?:^|\/)dist\//

const allowFile = fileURLToPath(new URL('words-allow.json', import.meta.url))
/** @type {import('./lib/violations.mjs').Exception[]} */
const exceptions = JSON.parse(readFileSync(allowFile, 'utf8'))

/** Subjects since the rule began; empty in a clone without that history. */
function commitSubjects() {
  const git = (...args) =>
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

const inCommits = () =>
  commitSubjects().flatMap((text) =>
    wordsIn('commit', text).map(({ group }) => ({
      file: 'commit',
      line: 0,
      group,
      word: text,
      text,
    })),
  )

const inFiles = (paths) =>
  listFiles(paths)
    .filter((path) => isCovered(path) && !EXCLUDED.test(path))
    .flatMap((path) => violationsIn(path, readFileSync(path, 'utf8')))

/** First two folders of a path. */
const folderOf = (file) => file.split('/').slice(0, -1).slice(0, 2).join('/') || '.'

const countBy = (items, keyOf) => {
  const counts = new Map()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

function printSummary(violations) {
  for (const [title, keyOf] of [
    ['group', ({ group }) => group],
    ['folder', ({ file }) => folderOf(file)],
  ]) {
    console.log(`per ${title}:`)
    for (const [key, count] of countBy(violations, keyOf))
      console.log(`${String(count).padStart(6)}  ${key}`)
  }
  for (const { group, text } of violations)
    if (group === 'commit') console.log(`commit subject is not \`scope: imperative\`: ${text}`)
}

function main(paths) {
  const isWhole = paths.length === 0
  const violations = [...inFiles(paths), ...(isWhole ? inCommits() : [])]
  const { left, unused } = applyExceptions(violations, exceptions)
  if (isWhole && left.length > 0) printSummary(left)
  if (!isWhole)
    for (const { file, line, group, word, text } of left)
      console.log(`${file}:${line}: ${group}: ${word}: ${text.slice(0, 200)}`)
  if (isWhole)
    for (const { file, group, text } of unused)
      console.log(
        `words-allow.json: remove the entry that covers nothing: ${file}: ${group}: ${text}`,
      )
  const stale = isWhole ? unused.length : 0
  console.log(`words: ${left.length} found, ${exceptions.length} exceptions`)
  process.exitCode = left.length + stale > 0 ? 1 : 0
}

main(process.argv.slice(2))
