import { readFileSync, writeFileSync } from 'node:fs'
import { listFiles } from './lib/files.ts'
import {
  definitionsOf,
  differences,
  idsOfFile,
  type TestsById,
  withTests,
} from './lib/invariant-ids.ts'

const PAGE = 'docs/invariants.md'
const TESTS = /^(?:tests|services|packages)\/.*(?:\.test|-cases)\.ts$/

/**
 * Compares docs/invariants.md with the titles of tests, both ways: each id that a title names is
 * defined on the page, and each definition names the files whose titles name it. Prints differences
 * and ids without a test; returns true if nothing differs. `--write` puts the files of the tests into
 * the page first.
 */
export function checkInvariants(args: string[] = []): boolean {
  const tests = testsById()
  if (args.includes('--write')) writeFileSync(PAGE, withTests(readFileSync(PAGE, 'utf8'), tests))
  const page = readFileSync(PAGE, 'utf8')
  const wrong = differences(page, tests)
  for (const line of wrong) console.log(line)
  if (wrong.length > 0)
    console.log('`npm run invariants -- --write` updates the files of the tests')
  const ids = definitionsOf(page).map(([id]) => id)
  const untested = ids.filter((id) => !tests.has(id))
  console.log(
    `invariants: ${ids.length} defined, ${wrong.length} differences, without a test: ${untested.join(' ')}`,
  )
  return wrong.length === 0
}

function testsById(): TestsById {
  const tests: TestsById = new Map()
  const files = listFiles(['tests', 'services', 'packages']).filter((file) => TESTS.test(file))
  for (const path of files)
    for (const id of idsOfFile(path, readFileSync(path, 'utf8')))
      tests.set(id, (tests.get(id) ?? new Set()).add(path))
  return tests
}
