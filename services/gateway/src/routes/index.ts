import * as apiKeys from './api-keys.ts'
import * as approvals from './approvals.ts'
import * as audit from './audit.ts'
import * as auth from './auth.ts'
import * as bulk from './bulk.ts'
import * as capturedLines from './captured-lines.ts'
import * as configUses from './config-uses.ts'
import * as configs from './configs.ts'
import * as consolePages from './console.ts'
import * as demo from './demo.ts'
import * as docs from './docs.ts'
import * as executionDiff from './execution-diff.ts'
import * as executionLog from './execution-log.ts'
import * as executions from './executions.ts'
import * as explain from './explain-execution.ts'
import * as forecasts from './forecasts.ts'
import * as health from './health.ts'
import * as listStream from './list-stream.ts'
import * as me from './me.ts'
import * as oidcSignIn from './oidc-sign-in.ts'
import * as ownSessions from './own-sessions.ts'
import * as payloads from './payloads.ts'
import * as principals from './principals.ts'
import * as repeats from './repeats.ts'
import * as roles from './roles.ts'
import * as runs from './runs.ts'
import * as savedViews from './saved-views.ts'
import * as schedules from './schedules.ts'
import * as secretUses from './secret-uses.ts'
import * as secrets from './secrets.ts'
import * as signIn from './sign-in.ts'
import * as statistics from './statistics.ts'
import * as workerApprovals from './worker-approvals.ts'
import * as workerCalls from './worker-calls.ts'
import * as workerCheckpoints from './worker-checkpoints.ts'
import * as workerExecutions from './worker-executions.ts'
import * as workerLines from './worker-lines.ts'
import * as workerNested from './worker-nested.ts'
import * as workerSecrets from './worker-secrets.ts'
import * as workerTokens from './worker-tokens.ts'
import * as workers from './workers.ts'
import * as workflowDiff from './workflow-diff.ts'
import * as workflows from './workflows.ts'

/** Routes of a module, each with the name of its export as the id of its operation. */
const named = <M extends Record<string, object>>(module: M) =>
  Object.entries(module).map(([operationId, route]) => ({ ...route, operationId })) as M[keyof M][]

/** All routes, by path. */
export const routes = [
  ...named(workflows),
  ...named(workflowDiff),
  ...named(runs),
  ...named(executions),
  ...named(executionLog),
  ...named(capturedLines),
  ...named(executionDiff),
  ...named(repeats),
  ...named(bulk),
  ...named(payloads),
  ...named(listStream),
  ...named(statistics),
  ...named(workerExecutions),
  ...named(explain),
  ...named(approvals),
  ...named(workers),
  ...named(workerTokens),
  ...named(workerCalls),
  ...named(workerCheckpoints),
  ...named(workerLines),
  ...named(workerApprovals),
  ...named(workerNested),
  ...named(workerSecrets),
  // Before the routes with a parameter in that segment.
  ...named(forecasts),
  ...named(schedules),
  ...named(audit),
  ...named(auth),
  ...named(me),
  ...named(savedViews),
  ...named(principals),
  ...named(apiKeys),
  ...named(roles),
  ...named(secrets),
  ...named(secretUses),
  ...named(configs),
  ...named(configUses),
  ...named(health),
  ...named(demo),
  ...named(docs),
  ...named(signIn),
  ...named(oidcSignIn),
  ...named(ownSessions),
  ...named(consolePages),
].sort((a, b) => (a.path < b.path ? -1 : 1))
