import { unavailable } from '../faults.ts'

export interface BodyBudgetOptions {
  /** Bytes of all bodies together. */
  maxBytes: number
  /** Bytes of the bodies of one principal. */
  maxBytesPerPrincipal: number
}

export const bodyBudgetLimits = (server: {
  max_body_bytes_in_flight: number
  max_principal_body_bytes_in_flight: number
}): BodyBudgetOptions => ({
  maxBytes: server.max_body_bytes_in_flight,
  maxBytesPerPrincipal: server.max_principal_body_bytes_in_flight,
})

/**
 * Limits the memory that request bodies take while they are received, parsed and passed on. A request
 * beyond the budget is answered 503 and may be repeated. A body that alone exceeds the budget is accepted
 * while no other is in flight, so that every body of a permitted size can pass.
 */
export class BodyBudget {
  readonly #options: BodyBudgetOptions
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  constructor(options: BodyBudgetOptions) {
    this.#options = options
  }

  get bytesInFlight(): number {
    return this.#bytes
  }

  /** Creates the account of one request; without a principal only the total is limited. */
  open(principal: string | undefined): BodyReservation {
    return new BodyReservation((bytes) => this.#add(principal, bytes))
  }

  #add(principal: string | undefined, bytes: number): void {
    if (bytes > 0) this.#requireSpace(principal, bytes)
    this.#bytes += bytes
    if (principal === undefined) return
    const used = (this.#bytesOf.get(principal) ?? 0) + bytes
    if (used > 0) this.#bytesOf.set(principal, used)
    else this.#bytesOf.delete(principal)
  }

  #requireSpace(principal: string | undefined, bytes: number): void {
    const { maxBytes, maxBytesPerPrincipal } = this.#options
    const used = principal === undefined ? 0 : (this.#bytesOf.get(principal) ?? 0)
    if (used > 0 && used + bytes > maxBytesPerPrincipal)
      throw unavailable('too many request bodies of this principal are in flight; retry')
    if (this.#bytes > 0 && this.#bytes + bytes > maxBytes)
      throw unavailable('too many request bodies are in flight; retry')
  }
}

/** The bytes that one request has reserved. */
class BodyReservation {
  readonly #add: (bytes: number) => void
  #reserved = 0

  constructor(add: (bytes: number) => void) {
    this.#add = add
  }

  /** Reserves up to a number of bytes in total; throws `unavailable` beyond the budget. */
  growTo(bytes: number): void {
    if (bytes <= this.#reserved) return
    this.#add(bytes - this.#reserved)
    this.#reserved = bytes
  }

  /** Called once the body has been passed on, and at the latest when the request ends. */
  release(): void {
    this.#add(-this.#reserved)
    this.#reserved = 0
  }
}

export type { BodyReservation }
