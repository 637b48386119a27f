import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { fakeApi } from '@windlass/testkit/api-fake'
import { startService } from '@windlass/testkit/service'
import { onTestFinished } from 'vitest'
import { start } from '../src/server.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

const newClient = () => {
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  return client
}

/** Starts the MCP server over HTTP in front of a fake API; `connect` creates a client with its own token. */
export async function connectOverHttp(env: Record<string, string> = {}) {
  const api = await fakeApi()
  const { ports, logged } = await startService(start, {
    SVC_MCP__PORT: '0',
    SVC_MCP__SERVER_URL: api.url,
    ...env,
  })
  const url = `http://127.0.0.1:${ports.http}`
  const connect = async (authorization?: string, more: Record<string, string> = {}) => {
    const headers = { ...more, ...(authorization !== undefined && { authorization }) }
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers },
    })
    const client = newClient()
    await client.connect(transport)
    return client
  }
  return { api, url, connect, logged }
}

export const stdioArgs = ['--conditions=windlass', '--import', 'tsx', MAIN]
export const stdioEnv = { SVC_CONFIG: '/dev/null', SVC_MCP__TRANSPORT: 'stdio' }

/** Starts the MCP server as a process; the client uses its standard input and output. */
export async function connectOverStdio(env: Record<string, string> = {}) {
  const api = await fakeApi()
  const inherited = process.env as Record<string, string>
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: stdioArgs,
    env: { ...inherited, ...stdioEnv, SVC_MCP__SERVER_URL: api.url, ...env },
    stderr: 'ignore',
  })
  const client = newClient()
  await client.connect(transport)
  return { api, client }
}

/** Calls a tool; returns its result as text and as structured content. */
export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args })
  const [item] = content as { type: string; text: string }[]
  const text = item?.text ?? ''
  return { text, isError: isError === true, structured: structuredContent }
}
