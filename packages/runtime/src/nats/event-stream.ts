import {
  DiscardPolicy,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'

const DEDUPLICATION_MS = 600_000
const MAX_AGE_MS = 24 * 3_600_000
/** JSStreamNameExistErr: there is a stream of this name with another configuration. */
const OTHER_CONFIGURATION = 10_058

/** Subjects and stream of one system on the server. */
export interface StreamScope {
  /** Begins each subject. */
  root: string
  stream: string
  /** Copies of the stream in a NATS cluster. */
  replicas: number
}

/** Returns the scope of a prefix. */
export const scopeOf = (prefix: string, replicas: number): StreamScope =>
  prefix
    ? { root: `${prefix}.`, stream: `EVENTS-${prefix}`, replicas }
    : { root: '', stream: 'EVENTS', replicas }

/**
 * Creates the stream of events if it is missing. A stream with another configuration is used unchanged: an
 * operator changes the number of copies while services with the old and the new number run.
 */
export async function assertStream(
  connection: NatsConnection,
  { root, stream, replicas }: StreamScope,
): Promise<void> {
  const manager = await jetstreamManager(connection)
  try {
    await manager.streams.add({
      name: stream,
      subjects: [`${root}events.>`],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_age: nanos(MAX_AGE_MS),
      duplicate_window: nanos(DEDUPLICATION_MS),
      num_replicas: replicas,
    })
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === OTHER_CONFIGURATION)) throw error
  }
}
