#!/usr/bin/env node
/**
 * Compares docs/invariants.md with the titles of tests, both ways: each id that a title names is
 * defined on the page, and each definition names the files whose titles name it.
 *
 *   node scripts/lint/invariants.mjs            prints differences, and ids without a test
 *   node scripts/lint/invariants.mjs --write    puts the files of the tests into the page
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { listFiles } from './lib/files.mjs'
import { definitionsOf, differences, idsOfFile, withTests } from './lib/invariant-ids.mjs'

const PAGE = 'docs/invariants.md'
const TESTS = /^(?:tests|services|packages)\/.*(?:\.test|-cases)\.ts$/

/** Id to the files whose titles name it. */
function testsById() {
  const tests = new Map()
  for (const path of listFiles(['tests', 'services', 'packages']).filter((file) =>
    TESTS.test(file),
  ))
    for (const id of idsOfFile(path, readFileSync(path, 'utf8')))
      tests.set(id, (tests.get(id) ?? new Set()).add(path))
  return tests
}

const tests = testsById()
if (process.argv.includes('--write'))
  writeFileSync(PAGE, withTests(readFileSync(PAGE, 'utf8'), tests))

const page = readFileSync(PAGE, 'utf8')
const wrong = differences(page, tests)
for (const line of wrong) console.log(line)
if (wrong.length > 0)
  console.log('`node scripts/lint/invariants.mjs --write` updates the files of the tests')
const ids = definitionsOf(page).map(([id]) => id)
const untested = ids.filter((id) => !tests.has(id))
console.log(
  `invariants: ${ids.length} defined, ${wrong.length} differences, without a test: ${untested.join(' ')}`,
)
process.exitCode = wrong.length > 0 ? 1 : 0
