/** Batched rpcs whose calls are work, and no long polls. */
const COMMANDS = [
  '/windlass.executions.v1.Executions/Submit',
  '/windlass.executions.v1.Executions/Lease',
]

/**
 * Rpcs whose replicas write what arrives together in one commit. Three small batches cost more than one large one: at 64
 * in flight, calls in turn to three replicas make 2.4 times the commits (docs/scaling.md).
 */
const BATCHED: ReadonlySet<string> = new Set([
  ...COMMANDS,
  '/windlass.executions.v1.Executions/AwaitWork',
])

/** True for an rpc, by its full path, whose calls should share a replica. */
export const isBatched = (path: string): boolean => BATCHED.has(path)

/** True for a batched rpc that is no long poll, so that its calls load the replica. */
export const isBatchedCommand = (path: string): boolean => COMMANDS.includes(path)
