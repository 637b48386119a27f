import * as apiKeys from './api-keys.ts'
import * as approvals from './approvals.ts'
import * as audit from './audit.ts'
import * as auth from './auth.ts'
import * as configs from './configs.ts'
import * as docs from './docs.ts'
import * as executions from './executions.ts'
import * as explain from './explain.ts'
import * as forecasts from './forecasts.ts'
import * as health from './health.ts'
import * as principals from './principals.ts'
import * as roles from './roles.ts'
import * as runs from './runs.ts'
import * as schedules from './schedules.ts'
import * as secrets from './secrets.ts'
import * as workerApprovals from './worker-approvals.ts'
import * as workerCalls from './worker-calls.ts'
import * as workerSecrets from './worker-secrets.ts'
import * as workers from './workers.ts'
import * as workflowDiff from './workflow-diff.ts'
import * as workflows from './workflows.ts'

/** All routes, by path. */
export const routes = [
  ...Object.values(workflows),
  ...Object.values(workflowDiff),
  ...Object.values(runs),
  ...Object.values(executions),
  ...Object.values(explain),
  ...Object.values(approvals),
  ...Object.values(workers),
  ...Object.values(workerCalls),
  ...Object.values(workerApprovals),
  ...Object.values(workerSecrets),
  // Before the routes with a parameter in that segment.
  ...Object.values(forecasts),
  ...Object.values(schedules),
  ...Object.values(audit),
  ...Object.values(auth),
  ...Object.values(principals),
  ...Object.values(apiKeys),
  ...Object.values(roles),
  ...Object.values(secrets),
  ...Object.values(configs),
  ...Object.values(health),
  ...Object.values(docs),
].sort((a, b) => (a.path < b.path ? -1 : 1))
