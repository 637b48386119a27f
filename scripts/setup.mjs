// Installs what the checks need (Node packages, Python with its development tools) and prints the
// path of that Python. `npm start` and `npm test` include this step.

import { catchSignals } from './process/signals.mjs'
import { projectDataDir } from './setup/data-dir.mjs'
import { Progress } from './setup/progress.mjs'
import { ensurePython } from './setup/python.mjs'
import { checkNode, installPackages } from './setup/toolchain.mjs'

catchSignals()
try {
  checkNode()
  const context = { dir: projectDataDir(), progress: new Progress() }
  await installPackages(context)
  process.stdout.write(`${await ensurePython(context, { dev: true })}\n`)
} catch (error) {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
}
