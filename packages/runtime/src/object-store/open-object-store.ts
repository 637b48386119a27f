import { fileURLToPath } from 'node:url'
import { openDirectory } from './directory.ts'
import type { ObjectStore, ObjectStoreSettings } from './object-store.ts'
import { openS3 } from './s3.ts'

/** Opens a store. The S3 client is loaded only where it is used. */
export async function openObjectStore(settings: ObjectStoreSettings): Promise<ObjectStore> {
  const { url } = settings
  if (url.startsWith('s3://')) return openS3(settings)
  return openDirectory(url.startsWith('file://') ? fileURLToPath(url) : url)
}
