import { once } from 'node:events'
import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../process/ports.ts'
import { drawPorts } from '../system/topology.ts'

const GATEWAY = 1

test('a free port in [svc.mcp].port: used', async () => {
  const port = await freePort()
  expect(await drawPorts(GATEWAY, port)).toMatchObject({ gateway: GATEWAY, mcp: port })
})

test('0 in [svc.mcp].port: a port is drawn', async () => {
  expect((await drawPorts(GATEWAY, 0)).mcp).toBeGreaterThan(0)
})

test('a taken port in [svc.mcp].port: another one is drawn', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  expect((await drawPorts(GATEWAY, port)).mcp).not.toBe(port)
})
