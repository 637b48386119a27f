import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { scriptedApi } from '../../../services/mcp/test/scripted-api.ts'
import { run } from '../src/run.ts'

/** The command before an API that answers by the test's table. */
export async function setup(env: Record<string, string> = {}) {
  const api = await scriptedApi()
  const windlass = async (...argv: string[]) => {
    const said = { out: '', err: '' }
    const status = await run(argv, {
      env: { SVC_CONFIG: '/dev/null', SVC_WORKERS__SERVER_URL: api.url, ...env },
      out: (text) => {
        said.out += text
      },
      err: (text) => {
        said.err += text
      },
    })
    return { status, ...said }
  }
  return { api, windlass }
}

/** The path of a file `flow.py` with this content, for the length of the test. */
export async function fileOf(content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-cli-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'flow.py')
  await writeFile(path, content)
  return path
}
