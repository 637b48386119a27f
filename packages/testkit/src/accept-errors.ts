import { Server } from 'node:net'

interface ActiveHandles {
  _getActiveHandles(): unknown[]
}

/** Makes the server of this process that listens on the port fail twice to accept a connection. */
export function failToAccept(port: number): void {
  const handles = (process as unknown as ActiveHandles)._getActiveHandles()
  const server = handles.find((handle): handle is Server => {
    const address = handle instanceof Server ? handle.address() : null
    return typeof address === 'object' && address?.port === port
  })
  if (!server) throw new Error(`no server of this process listens on port ${port}`)
  for (const _ of [1, 2]) {
    const error = Object.assign(new Error('accept ENOBUFS'), { code: 'ENOBUFS', syscall: 'accept' })
    server.emit('error', error)
  }
}
