import { readFileSync } from 'node:fs'

/** Files of short sources, one for each group, which the line `# ----` separates. */
export const CASES = new URL('./compile/', import.meta.url)

/** Follows a source of a group: the source declares a workflow, and all of its names may be imported. */
export const WORKFLOW = `
from shop import *
from windlass import workflow
@workflow
async def job(ctx): pass
`

/** Returns the sources of a group. */
export const compileCases = (group: string): string[] =>
  readFileSync(new URL(`${group}.py`, CASES), 'utf8')
    .replace(/\n$/, '')
    .split('\n# ----\n')
