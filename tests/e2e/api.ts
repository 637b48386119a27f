import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'

const EXAMPLES = new URL('../../examples/', import.meta.url)
const HANG_MS = 60_000

/** A client of the HTTP API with a limit on every wait. */
export function client(url: string) {
  const call = (method: string, path: string, body?: unknown) =>
    fetch(url + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(HANG_MS),
    })
  const json = async (method: string, path: string, body?: unknown) => {
    const response = await call(method, path, body)
    const text = await response.text()
    expect(response.status, `${method} ${path}: ${text}`).toBe(200)
    return JSON.parse(text)
  }
  const status = (id: string) => json('GET', `/executions/${id}?detailed=true`)
  return {
    call,
    json,
    status,
    async upload(source: string) {
      const form = new FormData()
      form.append('file', new Blob([source]), 'workflow.py')
      const response = await fetch(`${url}/workflows`, {
        method: 'POST',
        body: form,
        signal: AbortSignal.timeout(HANG_MS),
      })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      return JSON.parse(text) as { namespace: string; name: string; version: number }[]
    },
    run: (name: string, mode: 'sync' | 'async', input: unknown = null, query = '') =>
      json('POST', `/workflows/default/${name}/run/${mode}${query}`, input),
    /** Waits until the execution is in one of these states. */
    async until(id: string, ...states: string[]) {
      await expect
        .poll(async () => (await status(id)).state, { timeout: HANG_MS, interval: 50 })
        .toBeOneOf(states)
      return status(id)
    },
  }
}

/** Reads the source of one of the project's examples. */
export const example = (name: string) => readFile(new URL(`${name}.py`, EXAMPLES), 'utf8')

export interface Frame {
  event: string
  id: string
  data: string
}

/** Reads a server-sent event stream (WHATWG HTML, 9.2) to its end, or until `enough`. */
export async function frames(
  response: Response,
  enough: (frame: Frame) => boolean = () => false,
): Promise<Frame[]> {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const seen: Frame[] = []
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = parse(text.slice(0, end))
      text = text.slice(end + 2)
      if (!frame) continue
      seen.push(frame)
      if (enough(frame)) return seen
    }
  }
  return seen
}

function parse(block: string): Frame | undefined {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
      .join('\n')
  return field('event')
    ? { event: field('event'), id: field('id'), data: field('data') }
    : undefined
}
