import { once } from 'node:events'
import net from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canBind, freePort, onFreePort, saysPortTaken } from '../process/ports.ts'

describe('ports', () => {
  it('a drawn port: between 20000 and 31999', async () => {
    const port = await freePort()
    expect(port).toBeGreaterThanOrEqual(20_000)
    expect(port).toBeLessThanOrEqual(31_999)
  })

  it('another server listens: cannot be bound', async () => {
    const port = await freePort()
    const server = net.createServer().listen(port, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    expect(await canBind(port)).toBe(false)
  })

  it('the program reports a port in use: another one is drawn', async () => {
    const tried: number[] = []
    const answer = await onFreePort(async (port) => {
      tried.push(port)
      if (tried.length < 3) throw new Error('nats ended at start: address already in use')
      return 'up'
    })
    expect(answer).toBe('up')
    expect(tried).toHaveLength(3)
  })

  it('any other failure: no port is drawn again', async () => {
    const start = () => Promise.reject(new Error('permission denied'))
    await expect(onFreePort(start)).rejects.toThrow('permission denied')
  })

  it.each([
    'could not bind IPv4 address "127.0.0.1": Address already in use',
    'Error listening on port: 4222, "listen tcp 127.0.0.1:4222: bind: address already in use"',
    'listen EADDRINUSE: address already in use 127.0.0.1:8000',
  ])('are known to be taken from: %s', (message) => {
    expect(saysPortTaken(new Error(message))).toBe(true)
  })
})
