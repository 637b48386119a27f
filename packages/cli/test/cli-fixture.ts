import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeApi } from '@windlass/testkit/api-fake'
import { onTestFinished } from 'vitest'
import { runCommandLine } from '../src/command-line.ts'

interface FixtureOptions {
  env?: Record<string, string>
  /** The URL of the system that runs from this clone. Without this function the fake API is configured. */
  running?: (apiUrl: string) => string | undefined
  /** Time for which failed requests are repeated; 0 by default. */
  retryForMs?: number
  isTerminal?: boolean
}

/** The command line in front of a fake API. */
export async function cliFixture({
  env,
  running,
  retryForMs = 0,
  isTerminal = false,
}: FixtureOptions = {}) {
  const api = await fakeApi()
  const configured = running ? {} : { SVC_WORKERS__SERVER_URL: api.url }
  const windlass = async (...argv: string[]) => {
    const output = { out: '', err: '' }
    const status = await runCommandLine(argv, {
      env: { SVC_CONFIG: '/dev/null', ...configured, ...env },
      retryForMs,
      isTerminal,
      findRunningServer: async () => running?.(api.url),
      out: (text) => {
        output.out += text
      },
      err: (text) => {
        output.err += text
      },
    })
    return { status, ...output }
  }
  return { api, windlass }
}

/** Writes a file `flow.py` that is removed after the test; returns its path. */
export async function writeSource(content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-cli-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'flow.py')
  await writeFile(path, content)
  return path
}
