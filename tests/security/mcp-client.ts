import type { AuthSystem, RequestSpec } from './auth-system.ts'
import type { Expected } from './cases.ts'
import { type Answer, sendRequest } from './raw-http.ts'

interface Call {
  name: string
  arguments: Record<string, unknown>
}

const decoded = (text = '') => decodeURIComponent(text)

/** Requests for which there is a tool. */
const TOOLS: [door: RegExp, tool: string, args: (parts: string[], body: unknown) => object][] = [
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

/** The tool that makes this request, if there is one. */
export function toolOf(what: string, body?: unknown): Call | undefined {
  for (const [door, name, args] of TOOLS) {
    const parts = door.exec(what)?.slice(1)
    if (parts) return { name, arguments: { ...args(parts.map(decoded), body) } }
  }
  return undefined
}

/** Calls a tool as an agent does, with whatever credential or headers are given. */
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

/** What the tool answered. */
export function resultOf({ text }: Answer): Record<string, unknown> {
  const [, data = '{}'] = /^data: (.*)$/m.exec(text) ?? []
  const { result } = JSON.parse(data) as { result: { content: [{ text: string }] } }
  return JSON.parse(result.content[0].text)
}

/** How a tool tells a refusal of the API: by its status and to the letter, or in words of its own. */
export function toolErrorOf([status, said]: [number, unknown]): string {
  return status === 404
    ? 'not found'
    : `HTTP error: ${status} - ${said === undefined ? '' : JSON.stringify(said)}`
}

export const statusAndBody = (expected: Expected): [number, unknown] =>
  typeof expected === 'number' ? [expected, undefined] : expected
