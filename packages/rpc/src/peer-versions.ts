import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js'
import { skewedPeers } from '@windlass/runtime/metrics/metrics'
import { Problem } from '@windlass/runtime/problems'
import type { Logger } from '@windlass/runtime/process/log'
import { VERSION } from '@windlass/runtime/version'
import { STARTED_HEADER, VERSION_HEADER } from './call.ts'

/** A connection to or from another process. */
interface Peer {
  service: string
  version: string
}

/**
 * Releases of the processes that this one is connected to, in both directions. Releases that are at most
 * one minor version apart work together: their database schema, rpcs and stored names are compatible. A
 * process that is further away from most others is not ready, so that a rolling update which skips a
 * release stops at its first replica while the others serve. If both halves are equal, the newer one is not
 * ready. Peers of a release that announces no version are not counted.
 */
export class PeerVersions {
  /** Version that this process announces. */
  readonly version: string
  readonly #startedMs: number
  readonly #log: Logger
  readonly #problem: Problem
  readonly #stopObserving: () => void
  readonly #peers = new Set<Peer>()

  constructor(log: Logger, version = VERSION, startedMs = Date.now()) {
    this.#startedMs = startedMs
    this.version = version
    this.#log = log
    this.#problem = new Problem('version_skew', log)
    this.#stopObserving = skewedPeers.observe((report) => {
      for (const [peer, { length }] of Object.entries(this.#skewedByService()))
        report(length, { peer })
    })
  }

  /** Counts a connection with a process of this version until the returned function is called. */
  add(service: string, version: string | undefined): () => void {
    if (version === undefined || parse(version) === undefined) return () => {}
    const peer = { service, version }
    this.#peers.add(peer)
    this.#judge()
    if (this.#isSkewed(peer))
      this.#log.warn(
        { peer: service, peer_version: version },
        'release of a peer differs by more than one minor version',
      )
    return () => {
      this.#peers.delete(peer)
      this.#judge()
    }
  }

  /** Announces version and age on a stream that a client has opened, and counts the client's version. */
  exchange(service: string, stream: ServerDuplexStream<unknown, unknown>): () => void {
    const metadata = new Metadata()
    metadata.set(VERSION_HEADER, this.version)
    metadata.set(STARTED_HEADER, String(this.#startedMs))
    stream.sendMetadata(metadata)
    return this.add(service, stream.metadata.get(VERSION_HEADER)[0]?.toString())
  }

  /** Rejects while this process is more than one minor version away from most others. */
  async check(): Promise<void> {
    this.#problem.refuse()
  }

  close(): void {
    this.#stopObserving()
    this.#problem.close()
  }

  #skewedByService(): Record<string, Peer[]> {
    const all: Record<string, Peer[]> = {}
    for (const peer of this.#peers)
      if (this.#isSkewed(peer)) all[peer.service] = [...(all[peer.service] ?? []), peer]
    return all
  }

  #isSkewed({ version }: Peer): boolean {
    return Math.abs(distance(this.version, version)) > 1
  }

  #judge(): void {
    const skewed = [...this.#peers].filter((peer) => this.#isSkewed(peer))
    const isNewer = skewed.some(({ version }) => distance(this.version, version) > 0)
    const near = this.#peers.size - skewed.length + 1
    const isOdd = skewed.length > near || (isNewer && skewed.length === near)
    const names = [...new Set(skewed.map(({ service, version }) => `${service} ${version}`))].sort()
    this.#problem.set(
      isOdd
        ? `this process is of release ${this.version}, more than one minor version from ${names.join(', ')}: update one minor version at a time`
        : undefined,
    )
  }
}

/** Number of minor versions from b to a, negative if a is older; infinite between major versions. */
function distance(a: string, b: string): number {
  const [one, other] = [parse(a), parse(b)]
  if (!one || !other) return 0
  if (one.major !== other.major) return one.major > other.major ? Infinity : -Infinity
  return one.minor - other.minor
}

function parse(version: string): { major: number; minor: number } | undefined {
  const [, major, minor] = /^(\d{1,6})\.(\d{1,6})\./.exec(version) ?? []
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}
