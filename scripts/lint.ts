// The checks of `npm run lint` that are not Biome's. With the name of a check it runs that one alone, with
// arguments of its own:
//   npm run words -- PATH…             each place below PATH with a word of the list
//   npm run invariants -- --write      puts the files of the tests into docs/invariants.md
import { checkImports } from './lint/imports.ts'
import { checkInvariants } from './lint/invariants.ts'
import { checkPaths } from './lint/paths.ts'
import { checkWords } from './lint/words.ts'

const CHECKS: Record<string, (args?: string[]) => boolean> = {
  words: checkWords,
  imports: checkImports,
  invariants: checkInvariants,
  paths: checkPaths,
}

const [name, ...args] = process.argv.slice(2)
const results =
  name === undefined ? Object.values(CHECKS).map((check) => check()) : [CHECKS[name]?.(args)]
if (results.includes(undefined)) console.error(`usage: lint.ts ${Object.keys(CHECKS).join('|')}`)
process.exitCode = results.every(Boolean) ? 0 : 1
