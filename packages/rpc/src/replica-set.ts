import type { MultiplexedConnection } from './multiplexed-connection.ts'
import { isName, resolveAddress } from './resolve-address.ts'

const RESOLVE_MS = 5_000
/**
 * Longer than the deadline of any call: a replica that has left its name still answers the calls that it
 * received.
 */
const RETIRE_MS = 60_000

export interface ReplicaSetOptions {
  /** `HOST:PORT` of each replica, or names that resolve to several. */
  addresses: readonly string[]
  acquire(address: string): MultiplexedConnection
  release(address: string): void
  resolve?: (address: string) => Promise<string[]>
}

/**
 * A connection to each replica of a service. Names are resolved again at intervals: a channel to a name
 * would balance over its addresses, but its stream of calls, and with it most calls, would stay with one.
 * While a name cannot be resolved, its last addresses are kept.
 */
export class ReplicaSet {
  readonly #options: Required<ReplicaSetOptions>
  readonly #connections = new Map<string, MultiplexedConnection>()
  #list: readonly MultiplexedConnection[] = []
  readonly #retiring = new Map<string, NodeJS.Timeout>()
  readonly #resolved = new Map<string, string[]>()
  #timer: NodeJS.Timeout | undefined

  /**
   * Connects to the replicas that have an address; those behind names follow when the names are resolved.
   */
  constructor(options: ReplicaSetOptions) {
    this.#options = { resolve: resolveAddress, ...options }
    this.#follow(this.#current())
    if (!options.addresses.some(isName)) return
    void this.#resolve()
    this.#timer = setInterval(() => void this.#resolve(), RESOLVE_MS)
    this.#timer.unref()
  }

  /** Connections to the current replicas. */
  get connections(): readonly MultiplexedConnection[] {
    return this.#list
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const timer of this.#retiring.values()) clearTimeout(timer)
    for (const address of [...this.#connections.keys(), ...this.#retiring.keys()])
      this.#options.release(address)
    this.#connections.clear()
    this.#retiring.clear()
    this.#list = []
  }

  #current(): Set<string> {
    const { addresses } = this.#options
    return new Set(
      addresses.flatMap((one) => (isName(one) ? (this.#resolved.get(one) ?? []) : [one])),
    )
  }

  async #resolve(): Promise<void> {
    const names = this.#options.addresses.filter(isName)
    const isResolved = await Promise.all(names.map((name) => this.#resolveName(name)))
    if (this.#timer && isResolved.includes(true)) this.#follow(this.#current())
  }

  async #resolveName(name: string): Promise<boolean> {
    try {
      const found = await this.#options.resolve(name)
      if (found.length > 0) this.#resolved.set(name, found)
      return found.length > 0
    } catch {
      return false
    }
  }

  #follow(addresses: ReadonlySet<string>): void {
    for (const address of addresses) if (!this.#connections.has(address)) this.#connect(address)
    for (const address of this.#connections.keys())
      if (!addresses.has(address)) this.#retire(address)
    this.#list = [...this.#connections.values()]
  }

  #connect(address: string): void {
    this.#connections.set(address, this.#options.acquire(address))
    const retiring = this.#retiring.get(address)
    if (!retiring) return
    clearTimeout(retiring)
    this.#retiring.delete(address)
    this.#options.release(address)
  }

  /** Sends no further calls to a replica; the connection stays open for the calls that it has received. */
  #retire(address: string): void {
    this.#connections.delete(address)
    const end = () => {
      this.#retiring.delete(address)
      this.#options.release(address)
    }
    const timer = setTimeout(end, RETIRE_MS)
    timer.unref()
    this.#retiring.set(address, timer)
  }
}
