import { clusterOf } from '@windlass/runtime/cluster'

/** What the services know one another by that run inside of the tests. */
export const TEST_RPC_SECRET = 'a secret that all services of the tests share'

/** A member of their cluster: what tests call them with, and what stands in for them. */
export const testCluster = clusterOf(TEST_RPC_SECRET, 'test')
