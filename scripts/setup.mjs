// Installs what the checks need (Node packages, Python with its development tools) and prints the
// path of that Python. `npm start` and `npm test` do the same by themselves.
import { projectDataDir } from './lib/data-dir.mjs'
import { Progress } from './lib/progress.mjs'
import { ensurePython } from './lib/python.mjs'
import { catchSignals } from './lib/signals.mjs'
import { checkNode, installPackages } from './lib/toolchain.mjs'

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
