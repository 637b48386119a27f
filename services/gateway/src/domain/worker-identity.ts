/** The worker that a request comes from. */
export interface WorkerIdentity {
  worker_name: string
  /** Empty: the newest registration of the name is meant. */
  session_id: string
}
