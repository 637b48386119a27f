import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import { CallsService } from '@windlass/proto/windlass/rpc/v1/calls'
import { onTestFinished } from 'vitest'

export type RawHeaders = Record<string, string>
const bytes = (value: Buffer) => value

/** A unary gRPC call with any metadata. */
export function rawCall(address: string, path: string, given: RawHeaders, body = Buffer.alloc(0)) {
  const client = new Client(address, credentials.createInsecure())
  onTestFinished(() => client.close())
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(given)) metadata.set(name, value)
  return new Promise<number>((resolve) => {
    client.makeUnaryRequest(path, bytes, bytes, body, metadata, (error) =>
      resolve(error?.code ?? status.OK),
    )
  })
}

/** The same call on a multiplexed stream that the service token of the metadata may open. */
export function rawMultiplexedCall(address: string, path: string, given: RawHeaders) {
  const client = new Client(address, credentials.createInsecure())
  const { carry } = CallsService
  const metadata = new Metadata()
  metadata.set('authorization', given.authorization ?? '')
  const stream = client.makeBidiStreamRequest(
    carry.path,
    carry.requestSerialize,
    carry.responseDeserialize,
    metadata,
  )
  onTestFinished(() => {
    stream.cancel()
    client.close()
  })
  return new Promise<number>((resolve) => {
    stream.on('error', (error: { code?: number }) => resolve(error.code ?? -1))
    stream.on('data', ({ body }) => {
      if (body?.$case === 'failure') resolve(body.value.code)
      if (body?.$case === 'response') resolve(status.OK)
    })
    const caller = given['windlass-caller'] ?? ''
    const request = Buffer.alloc(0)
    const rest = {
      abandoned: false,
      hurried: false,
      received: false,
      request_id: '',
      client_address: '',
    }
    stream.write({ id: 1, path, request, caller, ...rest })
  })
}
