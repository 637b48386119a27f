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
