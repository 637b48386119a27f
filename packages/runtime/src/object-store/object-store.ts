/** Named documents that are written once. Names are paths with `/` and of a safe alphabet. */
export interface ObjectStore {
  /** Resolves when the object is stored durably. Replaces an object of the same name. */
  put(name: string, content: Buffer): Promise<void>
  /** The content; undefined if there is no such object. */
  get(name: string): Promise<Buffer | undefined>
  /** Names that begin with a prefix, which ends with `/`, in no order. */
  list(prefix: string): AsyncIterable<string>
  close(): void
}

export interface ObjectStoreSettings {
  /** `s3://BUCKET/PREFIX`, or the path or file:// URL of a directory. */
  url: string
  endpoint?: string | undefined
  region: string
  access_key_id?: string | undefined
  secret_access_key?: string | undefined
}
