// Installs what the checks need besides the Node packages of the bootstrap: Python with its development
// tools. Prints the path of that Python. `npm start` and `npm test` include this step.

import { projectDataDir } from './bootstrap/data-dir.mjs'
import { catchSignals } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { ensurePython } from './setup/python.ts'

catchSignals()
try {
  const context = { dir: projectDataDir(), progress: new Progress() }
  process.stdout.write(`${await ensurePython(context, { packages: 'dev' })}\n`)
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
}
