import { headers, type MsgHdrs } from '@nats-io/transport-node'
import type { Colocation } from '../process/colocation.ts'
import { type BusSubscription, publishBestEffort, subscribeBestEffort } from './best-effort.ts'
import type { Handler } from './local-bus.ts'
import type { NatsLink } from './nats-connection.ts'
import { PresenceProbe, presenceSubjectOf } from './presence.ts'

/** Id of the process that published a message, if other services run in it too. */
const PROCESS_HEADER = 'Windlass-Process'

/** Best-effort messages of one service. */
export interface Messages {
  publish(subject: string, bytes: Uint8Array): void
  subscribe(subject: string, handle: Handler): BusSubscription
  stop(): void
}

/** Messages of a service with a process of its own, over NATS. `root` begins every subject there. */
export function natsMessages(link: NatsLink, root: string): Messages {
  const present = new Set<string>()
  return {
    publish: (subject, bytes) => publishBestEffort(link, root + subject, bytes),
    subscribe(subject, handle) {
      const presence = presenceSubjectOf(subject)
      if (!present.has(presence)) subscribeBestEffort(link, root + presence, () => {})
      present.add(presence)
      return subscribeBestEffort(link, root + subject, ({ data, subject: received }) =>
        handle(data, received.slice(root.length)),
      )
    },
    stop() {},
  }
}

/**
 * Messages of a service that shares its process with others: directly to those, and over NATS while
 * another process subscribes. What this process published is not delivered a second time.
 */
export class ColocatedMessages implements Messages {
  readonly #link: NatsLink
  readonly #root: string
  readonly #colocation: Colocation
  readonly #probes = new Map<string, PresenceProbe>()
  #headers: MsgHdrs | undefined

  constructor(link: NatsLink, root: string, colocation: Colocation) {
    this.#link = link
    this.#root = root
    this.#colocation = colocation
  }

  publish(subject: string, bytes: Uint8Array): void {
    this.#colocation.bus.publish(this.#root + subject, bytes)
    if (!this.#probeOf(subject).areOthersPresent) return
    publishBestEffort(this.#link, this.#root + subject, bytes, this.#ownHeaders)
  }

  subscribe(subject: string, handle: Handler): BusSubscription {
    const receive: Handler = (bytes, received) => handle(bytes, received.slice(this.#root.length))
    const stop = this.#colocation.bus.subscribe(this.#root + subject, receive)
    const remote = subscribeBestEffort(this.#link, this.#root + subject, (message) => {
      if (message.headers?.get(PROCESS_HEADER) === this.#colocation.id) return
      receive(message.data, message.subject)
    })
    return {
      // Messages of other processes are rare; a poll covers one that is missed.
      confirmed: async () => {},
      stop() {
        stop()
        remote.stop()
      },
    }
  }

  stop(): void {
    for (const probe of this.#probes.values()) probe.stop()
  }

  #probeOf(subject: string): PresenceProbe {
    const presence = this.#root + presenceSubjectOf(subject)
    const known = this.#probes.get(presence)
    if (known) return known
    const probe = new PresenceProbe(presence, () => this.#link.connection)
    this.#probes.set(presence, probe)
    return probe
  }

  get #ownHeaders(): MsgHdrs {
    if (this.#headers) return this.#headers
    this.#headers = headers()
    this.#headers.set(PROCESS_HEADER, this.#colocation.id)
    return this.#headers
  }
}
