import { PROJECT } from '../bootstrap/data-dir.mjs'
import { TYPESCRIPT_ARGS } from '../process/typescript.ts'
import type { Progress } from './progress.ts'
import { run } from './run.ts'

const STEPS = [
  ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json'],
  [...TYPESCRIPT_ARGS, 'scripts/bundle.ts'],
]

/** Compiles and bundles incrementally, as `npm run build` does. */
export async function build({ progress }: { progress: Progress }): Promise<void> {
  await progress.step('Building', async (report) => {
    for (const step of STEPS) await run(process.execPath, step, { cwd: PROJECT, onLine: report })
  })
}
