import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { CapturedLinesService } from '@windlass/proto/windlass/executions/v1/captured_lines'
import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService, WorkerTokensService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { ViewsService } from '@windlass/proto/windlass/identity/v1/views'
import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { connect } from '@windlass/rpc/client'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'

/** RPC clients of the other services, one per gRPC service; a handler names those it calls. */
export type Clients = ReturnType<typeof connectServices>

export function connectServices({ services }: Settings, serviceIdentity: ServiceIdentity) {
  const clients = {
    executions: connect(ExecutionsService, services.executions, serviceIdentity),
    approvals: connect(ApprovalsService, services.executions, serviceIdentity),
    queue: connect(QueueService, services.executions, serviceIdentity),
    history: connect(HistoryService, services.executions, serviceIdentity),
    capturedLines: connect(CapturedLinesService, services.executions, serviceIdentity),
    catalog: connect(CatalogService, services.catalog, serviceIdentity),
    dispatcher: connect(DispatcherService, services.dispatcher, serviceIdentity),
    fleet: connect(FleetService, services.dispatcher, serviceIdentity),
    scheduler: connect(SchedulerService, services.scheduler, serviceIdentity),
    identity: connect(IdentityService, services.identity, serviceIdentity),
    workerTokens: connect(WorkerTokensService, services.identity, serviceIdentity),
    principals: connect(PrincipalsService, services.identity, serviceIdentity),
    keys: connect(ApiKeysService, services.identity, serviceIdentity),
    roles: connect(RolesService, services.identity, serviceIdentity),
    secrets: connect(SecretsService, services.identity, serviceIdentity),
    configs: connect(ConfigsService, services.identity, serviceIdentity),
    audit: connect(AuditService, services.identity, serviceIdentity),
    views: connect(ViewsService, services.identity, serviceIdentity),
  }
  return {
    ...clients,
    close: () => {
      for (const client of Object.values(clients)) client.close()
    },
  }
}
