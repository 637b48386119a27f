import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@windlass/testkit/folder'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'

/** Budget of the fuzzer in seconds; `npm run test:openapi` has a longer one. */
const SECONDS = Number(process.env.TEST_OPENAPI_SECONDS ?? 30)
/** Limit of a fuzzer that hangs. */
const LIMIT_MS = (3 * SECONDS + 120) * 1_000

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
]

/** Streams that end only with their execution or worker. */
const ENDLESS = [
  ...['/events/stream', '/executions/{execution_id}/events', '/workers/{name}/connect'],
]

test(
  'requests generated from the OpenAPI document: every answer is documented, none is 500',
  async () => {
    const { url } = await startSystem({
      workers: 0,
      env: { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'an encryption key of the tests alone' },
    })
    const executions = await seed(url)
    const folder = temporaryFolder('openapi')
    const python = process.env.TEST_PYTHON ?? 'python3'
    const fuzzer = spawn(
      join(dirname(python), 'schemathesis'),
      [
        ...['run', `${url}/openapi.json`, '--phases=examples,coverage,fuzzing'],
        ...[`--max-time=${SECONDS}`, '--request-timeout=10', '--workers=1'],
        ...[`--checks=${CHECKS.join(',')}`, '--continue-on-failure', '--warnings=off'],
        ...ENDLESS.map((path) => `--exclude-path=${path}`),
        ...['--no-color', '--generation-database=none', '--output-truncate=false'],
      ],
      {
        cwd: folder,
        env: {
          ...process.env,
          PYTHONPATH: fileURLToPath(new URL('.', import.meta.url)),
          PYTHONDONTWRITEBYTECODE: '1',
          SCHEMATHESIS_HOOKS: 'openapi_hooks',
          FUZZ_EXECUTIONS: executions.join(','),
        },
      },
    )
    const [output, errors, [status]] = await Promise.all([
      text(fuzzer.stdout),
      text(fuzzer.stderr),
      once(fuzzer, 'exit'),
    ])
    expect(status, `${output}${errors}`).toBe(0)
    const [, tested = '0'] = /Tested: (\d+)/.exec(output) ?? []
    expect(Number(tested), output).toBeGreaterThan(40)
  },
  LIMIT_MS,
)

/** Creates objects of each kind that routes name; returns ids of executions. */
async function seed(url: string): Promise<string[]> {
  const source = await readFile(new URL('../../examples/hello_world.py', import.meta.url))
  const form = () => {
    const body = new FormData()
    body.set('file', new Blob([source]), 'hello_world.py')
    return body
  }
  const post = async (path: string, body: unknown) => {
    const isForm = body instanceof FormData
    const response = await fetch(url + path, {
      method: 'POST',
      body: isForm ? body : JSON.stringify(body),
      headers: isForm ? {} : { 'content-type': 'application/json' },
    })
    expect(response.ok, `${path} ${response.status}`).toBe(true)
    return (await response.json()) as { execution_id: string }
  }
  await post('/workflows', form())
  await post('/workflows', form())
  const workflow_name = 'hello_world'
  const schedule_config = { type: 'interval', interval_seconds: 86_400 }
  await post('/schedules', { name: 'fuzzed', workflow_name, schedule_config })
  await post('/admin/principals', { subject: 'fuzzed', type: 'service_account' })
  await post('/admin/roles', { name: 'fuzzed', permissions: ['execution:*:read'] })
  const run = '/workflows/default/hello_world/run/async'
  const ids = [await post(run, 'a'), await post(run, 'b')].map(({ execution_id }) => execution_id)
  await fetch(`${url}/workflows/default/hello_world/cancel/${ids[1]}`)
  return ids
}
