import type { S3ClientConfig } from '@aws-sdk/client-s3'
import type { ObjectStore, ObjectStoreSettings } from './object-store.ts'

const CONNECT_MS = 5_000
const REQUEST_MS = 60_000

/**
 * Stores objects in a bucket of S3 or of a compatible server (`endpoint`, then with the bucket in the
 * path). Without keys in the settings the client looks for keys in its environment.
 */
export async function openS3(settings: ObjectStoreSettings): Promise<ObjectStore> {
  const s3 = await import('@aws-sdk/client-s3')
  const { hostname: Bucket, pathname } = new URL(settings.url)
  const prefix = pathname.replace(/^\/+|\/+$/g, '')
  const root = prefix ? `${prefix}/` : ''
  const client = new s3.S3Client(clientOptions(settings))
  return {
    async put(name, content) {
      await client.send(new s3.PutObjectCommand({ Bucket, Key: root + name, Body: content }))
    },

    async get(name) {
      try {
        const found = await client.send(new s3.GetObjectCommand({ Bucket, Key: root + name }))
        return Buffer.from((await found.Body?.transformToByteArray()) ?? [])
      } catch (error) {
        if (error instanceof s3.NoSuchKey) return undefined
        throw error
      }
    },

    async *list(below) {
      const pages = s3.paginateListObjectsV2({ client }, { Bucket, Prefix: root + below })
      for await (const { Contents = [] } of pages)
        for (const { Key } of Contents) if (Key) yield Key.slice(root.length)
    },

    close: () => client.destroy(),
  }
}

function clientOptions(settings: ObjectStoreSettings): S3ClientConfig {
  const { endpoint, region, access_key_id, secret_access_key } = settings
  const credentials =
    access_key_id !== undefined && secret_access_key !== undefined
      ? { accessKeyId: access_key_id, secretAccessKey: secret_access_key }
      : undefined
  return {
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // Compatible servers do not know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS },
  }
}
