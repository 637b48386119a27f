/** The worker that a request comes from. */
export interface WorkerIdentity {
  worker_name: string
  /** Empty: the newest registration of the name is meant. */
  session_id: string
  /** The only execution that it may act for, under this claim generation; undefined: each that it holds. */
  execution?: { execution_id: string; claim_generation: number }
  /** Restrictions of the worker token that it was registered with; absent: none. */
  grant?: { restrictions_json: string } | undefined
}
