import S3rver from 's3rver'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './folder.ts'

/** Starts an S3-compatible server with one bucket until the test ends. Returns the settings of a client. */
export async function startS3(bucket: string, prefix: string) {
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: temporaryFolder('s3'),
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await server.run()
  onTestFinished(() => server.close())
  return {
    url: `s3://${bucket}/${prefix}`,
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    access_key_id: 'S3RVER',
    secret_access_key: 'S3RVER',
  }
}
