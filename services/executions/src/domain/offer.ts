/** A worker that is offered for work. */
export interface Offer {
  worker_name: string
  session_id: string
  connection_generation: number
  /** True: the worker can send a first checkpoint without a claim. */
  claims_by_delivery?: boolean | undefined
  /** True: the worker can continue the compensations of a cancelled execution. */
  continues_cancelled?: boolean | undefined
}
