/** A run of a workflow with an exact input. */
export interface Run {
  namespace: string
  workflow: string
  version: number | undefined
  /** JSON text, which the commands contain as it is. */
  input: string
  serverUrl: string
  /** True: the server asks for a key, which each command reads from SVC_AUTH_TOKEN. */
  needsKey: boolean
}

/** A text as one word of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const pathOf = ({ namespace, workflow }: Run) =>
  `/workflows/${encodeURIComponent(namespace)}/${encodeURIComponent(workflow)}`

/** A curl command that starts the run. */
export function curlCommand(run: Run): string {
  const version = run.version === undefined ? '' : `?version=${run.version}`
  return [
    `curl -X POST ${quoted(`${run.serverUrl}${pathOf(run)}/run/async${version}`)}`,
    "-H 'content-type: application/json'",
    ...(run.needsKey ? ['-H "authorization: Bearer $SVC_AUTH_TOKEN"'] : []),
    `--data-binary ${quoted(run.input)}`,
  ].join(' \\\n  ')
}

/** A command of the command line that starts the run; a number below zero is no option after `--`. */
export function windlassCommand(run: Run): string {
  const version = run.version === undefined ? '' : ` --version ${run.version}`
  const options = `--async --server-url ${quoted(run.serverUrl)}${version}`
  return `windlass workflow run ${options} -- ${quoted(`${run.namespace}/${run.workflow}`)} ${quoted(run.input)}`
}

/** Lines of Python that start the run; numbers beyond 2^53 stay exact, of repeated members the last one counts. */
export function pythonCode(run: Run): string {
  const version = run.version === undefined ? '' : `, version=${run.version}`
  const token = run.needsKey ? ', token=os.environ["SVC_AUTH_TOKEN"]' : ''
  // A JSON string is a Python string of the same text.
  const name = JSON.stringify(`${run.namespace}/${run.workflow}`)
  return [
    'import json',
    ...(run.needsKey ? ['import os'] : []),
    '',
    'from windlass.client import Client',
    '',
    `with Client(${JSON.stringify(run.serverUrl)}${token}) as client:`,
    `    handle = client.start(${name}, json.loads(${JSON.stringify(run.input)})${version})`,
    '    print(handle.execution_id)',
    '',
  ].join('\n')
}
