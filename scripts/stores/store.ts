import type { Child, Processes } from '../process/processes.ts'

/** A server that holds data or messages. */
interface Store {
  /** With the administrator's credentials. */
  url: string
  /** Undefined if it runs elsewhere. */
  child?: Child
  /** Returns the URL of a service with that service's own user; undefined if it does not use the store. */
  urlOf?: (service: string) => string | undefined
}

export interface Infra {
  postgres: Store
  nats: Store
  redis: Store
}

/** A store that was started here, with a user for each service. */
export type StartedStore = Required<Store>

/** Starts a store in a data directory. */
export type StartStore<O = object> = (
  processes: Processes,
  dir: string,
  options?: O,
) => Promise<StartedStore>
