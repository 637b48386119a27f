// `npm run audit`: looks the locked packages up in the registries' lists of known vulnerabilities; fails at
// severity high or above. A registry that has no such list, or that cannot be reached, is skipped with a line
// that says so.
import path from 'node:path'
import { PROJECT, projectDataDir } from './bootstrap/data-dir.mjs'
import { ensurePnpm } from './bootstrap/node-packages.mjs'
import { catchSignals } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { ensurePython } from './setup/python.ts'
import { run } from './setup/run.ts'

const PIP_AUDIT = 'pip-audit==2.10.1'
/** Errors that say nothing about the packages. */
const NO_ANSWER =
  /AUDIT_BAD_RESPONSE|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ConnectionError|ServiceError|HTTPError|Max retries/

catchSignals()
try {
  const dir = projectDataDir()
  const results = [await check('Node', auditNode), await check('Python', () => auditPython(dir))]
  process.exitCode = results.every(Boolean) ? 0 : 1
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
}

/** Prints the result; true if nothing is known or no list is offered. */
async function check(title: string, audit: () => Promise<string>): Promise<boolean> {
  try {
    await audit()
    console.log(`${title} packages: no known vulnerability`)
    return true
  } catch (error) {
    const { message } = error as Error
    if (!NO_ANSWER.test(message)) console.log(`${title} packages:\n${message}`)
    else console.log(`${title} packages: SKIPPED, the registry gave no list of vulnerabilities`)
    return NO_ANSWER.test(message)
  }
}

async function auditNode(): Promise<string> {
  const args = [await ensurePnpm(), 'audit', '--prod', '--audit-level=high', '--loglevel=info']
  return run(process.execPath, args, { cwd: PROJECT })
}

async function auditPython(dir: string): Promise<string> {
  const python = await ensurePython({ dir, progress: new Progress() })
  const tools = path.join(dir, 'tools/pip-audit')
  await run(python, ['-m', 'venv', tools])
  await run(path.join(tools, 'bin/pip'), ['install', '--quiet', PIP_AUDIT])
  const args = ['--disable-pip', '--require-hashes', '-r', 'sdk/python/requirements.txt']
  return run(path.join(tools, 'bin/pip-audit'), args, { cwd: PROJECT })
}
