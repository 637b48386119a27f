import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { ApiKeysService, RolesService } from '@windlass/proto/windlass/identity/v1/principals'
import { SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { expect, test } from 'vitest'
import { isRepeatable, REPEATABLE } from './repeatable.ts'

const definitions = [
  CatalogService,
  DispatcherService,
  FleetService,
  ApprovalsService,
  ExecutionsService,
  QueueService,
  IdentityService,
  RolesService,
  SchedulerService,
]

test('rpcs of the list: all exist', () => {
  const paths = definitions.flatMap((one) => Object.values(one).map(({ path }) => path.slice(1)))
  expect(paths).toEqual(expect.arrayContaining([...REPEATABLE]))
})

test('reads and commands: repeatable; leases and other changes: not', () => {
  const { submit, get, lease, awaitWork } = ExecutionsService
  expect([submit, get].map(({ path }) => isRepeatable(path))).toEqual([true, true])
  const changes = [lease, awaitWork, ApiKeysService.create, SecretsService.put]
  expect(changes.map(({ path }) => isRepeatable(path))).toEqual([false, false, false, false])
})
