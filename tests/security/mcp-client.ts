import type { AuthSystem, RequestSpec } from './auth-system.ts'
import type { Expected } from './cases.ts'
import { type Answer, sendRequest } from './raw-http.ts'

interface Call {
  name: string
  arguments: Record<string, unknown>
}

const decoded = (text = '') => decodeURIComponent(text)

/** Requests that have a tool, with the tool's arguments. */
const TOOLS: [request: RegExp, tool: string, args: (parts: string[], body: unknown) => object][] = [
  [/^GET \/workflows$/, 'list_workflows', () => ({})],
  [/^GET \/workers$/, 'list_workers', () => ({})],
  [/^GET \/executions$/, 'list_executions', () => ({})],
  [/^GET \/schedules$/, 'list_schedules', () => ({})],
  [
    /^GET \/workflows\/([^/]*)\/([^/]*)$/,
    'get_workflow_details',
    ([workflow_namespace, workflow_name]) => ({ workflow_namespace, workflow_name }),
  ],
  [
    /^DELETE \/workflows\/([^/]*)\/([^/]*)$/,
    'delete_workflow',
    ([workflow_namespace, workflow_name]) => ({ workflow_namespace, workflow_name }),
  ],
  [
    /^POST \/workflows\/([^/]*)\/([^/]*)\/run\/async$/,
    'execute_workflow_async',
    ([workflow_namespace, workflow_name], body) => ({
      ...{ workflow_namespace, workflow_name },
      input_data: JSON.stringify(body ?? null),
    }),
  ],
  [/^POST \/schedules\/([^/]*)\/pause$/, 'pause_schedule', ([schedule_id]) => ({ schedule_id })],
]

/** Returns the tool call for a request, if there is a tool. */
export function toolOf(what: string, body?: unknown): Call | undefined {
  for (const [request, name, args] of TOOLS) {
    const parts = request.exec(what)?.slice(1)
    if (parts) return { name, arguments: { ...args(parts.map(decoded), body) } }
  }
  return undefined
}

/** Calls a tool over HTTP with this credential and these headers. */
export const callTool = (
  { system }: AuthSystem,
  call: Call,
  { token, headers = {} }: Omit<RequestSpec, 'body'>,
): Promise<Answer> =>
  sendRequest(new URL(system.mcpUrl).origin, 'POST', '/mcp', {
    headers: {
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
    keepsStream: true,
  })

/** Parses the result of a tool call. */
export function resultOf({ text }: Answer): Record<string, unknown> {
  const [, data = '{}'] = /^data: (.*)$/m.exec(text) ?? []
  const { result } = JSON.parse(data) as { result: { content: [{ text: string }] } }
  return JSON.parse(result.content[0].text)
}

/** Returns the text by which a tool reports a refusal of the API. */
export function toolErrorOf([status, body]: [number, unknown]): string {
  return status === 404
    ? 'not found'
    : `HTTP error: ${status} - ${body === undefined ? '' : JSON.stringify(body)}`
}

export const statusAndBody = (expected: Expected): [number, unknown] =>
  typeof expected === 'number' ? [expected, undefined] : expected
