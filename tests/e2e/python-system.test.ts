import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'
import { sharedSystem } from './execution-fixture.ts'

const run = promisify(execFile)
const SDK = fileURLToPath(new URL('../../sdk/python/', import.meta.url))
const HANG_MS = 300_000

const system = sharedSystem({ workers: 1 })

test(
  'Python client and windlass-check: their tests pass against a running system',
  {
    timeout: HANG_MS,
  },
  () => runPytest('tests_system'),
)

test.skipIf(!process.env.TEST_FRAMEWORKS)(
  'Python client inside web frameworks, Celery and a notebook: its tests pass (npm run test:frameworks)',
  { timeout: HANG_MS },
  () => runPytest('tests_frameworks'),
)

/** Runs a folder of Python tests against the system; rejects with their output unless all pass. */
async function runPytest(tests: string): Promise<void> {
  const python = process.env.TEST_PYTHON ?? 'python3'
  const folder = ['--basetemp', join(temporaryFolder('pytest'), 'tests')]
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', ...folder, tests]
  const tokenFile = join(temporaryFolder('token'), 'bootstrap-token')
  await writeFile(tokenFile, await system().bootstrapToken())
  const address = { WINDLASS_URL: system().url, WINDLASS_TOKEN_FILE: tokenFile }
  const env = { ...process.env, ...address, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = await run(python, args, { cwd: SDK, env, timeout: HANG_MS - 10_000 }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`)
    },
  )
  expect(stdout).toMatch(/ passed/)
  expect(stdout).not.toMatch(/skipped/)
}
