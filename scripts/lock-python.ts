// `npm run lock:python`: resolves the packages of the Python environments and writes their versions and
// hashes into sdk/python/requirements*.txt. Releases younger than MINIMUM_AGE are left out: a stolen account of a
// maintainer is usually noticed within days.
import path from 'node:path'
import { PROJECT, projectDataDir } from './bootstrap/data-dir.mjs'
import { catchSignals } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { ensureUv, findPython } from './setup/python.ts'
import { run } from './setup/run.ts'

const MINIMUM_AGE = '7 days'
/** Lock file to the extras that it includes, and how their versions are chosen. */
const LOCKS = {
  'requirements.txt': ['--extra', 'worker', '--extra', 'otel', '--extra', 'encryption'],
  'requirements-dev.txt': ['--extra', 'dev'],
  // The lowest versions that pyproject.toml admits, for `npm run test:pythons`; nothing else installs them.
  'requirements-lowest.txt': ['--extra', 'dev', '--resolution', 'lowest-direct'],
  'requirements-frameworks.txt': ['--extra', 'frameworks'],
  'requirements-docs.txt': ['--extra', 'docs'],
}

catchSignals()
try {
  const context = { dir: projectDataDir(), progress: new Progress() }
  await findPython(context.progress)
  const uv = await ensureUv(context.dir)
  for (const [file, extras] of Object.entries(LOCKS))
    await run(
      uv,
      [
        ...['pip', 'compile', '--quiet', 'pyproject.toml', 'build-requirements.in', ...extras],
        ...['--universal', '--python-version', '3.11', '--generate-hashes', '--upgrade'],
        ...['--no-header', '--no-annotate', '--exclude-newer', MINIMUM_AGE, '--output-file', file],
      ],
      { cwd: path.join(PROJECT, 'sdk/python') },
    )
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
}
