import { PROJECT } from '../bootstrap/data-dir.mjs'
import { consoleStamp } from '../console/console-files.ts'
import { TYPESCRIPT_ARGS } from '../process/typescript.ts'
import { bundles } from './bundles.ts'
import type { Progress } from './progress.ts'
import { run } from './run.ts'

/** Bundles the programs and the console, if sources have changed. Does not check types; `npm run build` does. */
export async function build({ progress }: { progress: Progress }): Promise<void> {
  const stamps = [...bundles().map(({ stamp }) => stamp), consoleStamp()]
  if (stamps.every((stamp) => stamp.matches())) return
  await progress.step('Building', (report) =>
    run(process.execPath, [...TYPESCRIPT_ARGS, 'scripts/bundle.ts'], {
      cwd: PROJECT,
      onLine: report,
    }),
  )
}
