import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { callTool, connectOverStdio, stdioArgs, stdioEnv } from './mcp-fixture.ts'

test('over standard input and output: the same tools, with the token of the environment', async () => {
  const { api, client } = await connectOverStdio({ SVC_AUTH_TOKEN: 'ci.secret' })
  api.answers.set('GET /health', { body: '{"status":"healthy"}' })

  const { text } = await callTool(client, 'health_check')
  expect(text).toBe('{"success":true,"health":{"status":"healthy"}}')
  expect(api.seen[0]?.headers.authorization).toBe('Bearer ci.secret')
  expect((await client.listTools()).tools).toHaveLength(54)
})

test('the end of standard input: ends the process with status 0; standard output has the protocol only', async () => {
  const server = spawn(process.execPath, stdioArgs, { env: { ...process.env, ...stdioEnv } })
  const output = [text(server.stdout), text(server.stderr)]
  server.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')

  expect(await once(server, 'exit')).toEqual([0, null])
  const [stdout, stderr] = await Promise.all(output)
  expect(stdout).toBe('{"result":{},"jsonrpc":"2.0","id":1}\n')
  expect(stderr).toContain('"msg":"started"')
  expect(stderr).toContain('"msg":"stopped"')
})

test('a message larger than 10 MiB: logged, and the process ends, so that its client does not wait', async () => {
  const server = spawn(process.execPath, stdioArgs, { env: { ...process.env, ...stdioEnv } })
  onTestFinished(() => void server.kill('SIGKILL'))
  const stderr = text(server.stderr)
  server.stdin.on('error', () => {})
  server.stdin.write('x'.repeat(11 * 1_048_576))
  expect(await once(server, 'exit')).toEqual([0, null])
  expect(await stderr).toContain('exceeded maximum size')
})

test('a line that is no message: logged, and the next one is answered', async () => {
  const server = spawn(process.execPath, stdioArgs, { env: { ...process.env, ...stdioEnv } })
  const output = [text(server.stdout), text(server.stderr)]
  server.stdin.end('{"jsonrpc"\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  const [stdout, stderr] = await Promise.all(output)
  expect(stdout).toBe('{"result":{},"jsonrpc":"2.0","id":1}\n')
  expect(stderr).toContain('failed to read a message')
})
