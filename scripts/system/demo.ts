import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { stopSignal } from '../process/signals.ts'

export const EXAMPLE = 'examples/hello_world.py'
/** Tasks in sequence, which the console runs while it kills the worker. */
const SEQUENCE = 'examples/ten_tasks.py'
const INPUT = 'World'
const REQUEST_LIMIT_MS = 60_000

/** Result of the demonstration. */
export interface Demo {
  workflow: { namespace: string; name: string; version: number }
  input: unknown
  state: string
  output: unknown
  tookMs: number
}

/** Uploads the examples over HTTP and runs the first, like any client. */
export async function runDemo(url: string): Promise<Demo> {
  await upload(url, SEQUENCE)
  const [workflow] = await upload(url, EXAMPLE)
  const began = performance.now()
  const execution = await requestJson(
    `${url}/workflows/${workflow.namespace}/${workflow.name}/run/sync`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(INPUT),
    },
  )
  const tookMs = performance.now() - began
  return { workflow, input: INPUT, state: execution.state, output: execution.output, tookMs }
}

function upload(url: string, file: string) {
  const form = new FormData()
  form.set('file', new Blob([readFileSync(path.join(PROJECT, file))]), path.basename(file))
  return requestJson(`${url}/workflows`, { method: 'POST', body: form })
}

/** Returns true if the API accepts requests without credentials. */
export async function authenticationIsOff(url: string): Promise<boolean> {
  return (await fetch(`${url}/workflows`, limits())).status !== 401
}

/** Returns the JSON of an answer; throws its text if it is not a success. */
async function requestJson(url: string, request: RequestInit) {
  const response = await fetch(url, { ...request, ...limits() })
  const text = await response.text()
  if (!response.ok) throw new Error(`${request.method} ${url} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

function limits() {
  return { signal: AbortSignal.any([stopSignal, AbortSignal.timeout(REQUEST_LIMIT_MS)]) }
}
