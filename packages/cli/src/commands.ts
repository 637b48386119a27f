import type { Command } from './command.ts'
import { adminAfterRestore, adminCreateKey, adminReviewAnonymous } from './commands/admin.ts'
import { archiveRestore, archiveShow } from './commands/archive.ts'
import { auditList, auditVerify } from './commands/audit.ts'
import { auditExport, auditPrune } from './commands/audit-export.ts'
import { configCheck } from './commands/config-check.ts'
import {
  executionCancel,
  executionList,
  executionResume,
  executionShow,
} from './commands/execution.ts'
import { mcp } from './commands/mcp.ts'
import { executionDiff, executionFork, executionRerun } from './commands/repeat.ts'
import { serverRpcKeys } from './commands/rpc-keys.ts'
import {
  scheduleCreate,
  scheduleDelete,
  scheduleForecast,
  scheduleHistory,
  scheduleList,
  scheduleNext,
  schedulePause,
  scheduleResume,
  scheduleShow,
} from './commands/schedule.ts'
import {
  secretDelete,
  secretGet,
  secretList,
  secretSet,
  secretsRotateKey,
} from './commands/secret.ts'
import { serverBootstrapToken, serverStart } from './commands/server.ts'
import { workerStart } from './commands/worker.ts'
import {
  workerEndSession,
  workerTokensCreate,
  workerTokensList,
  workerTokensRevoke,
} from './commands/worker-token.ts'
import {
  workflowDiff,
  workflowList,
  workflowRun,
  workflowStatus,
  workflowUpload,
} from './commands/workflow.ts'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  serverStart,
  serverBootstrapToken,
  serverRpcKeys,
  configCheck,
  adminCreateKey,
  adminReviewAnonymous,
  adminAfterRestore,
  workerStart,
  workerEndSession,
  workerTokensCreate,
  workerTokensList,
  workerTokensRevoke,
  workflowUpload,
  workflowDiff,
  workflowList,
  workflowRun,
  workflowStatus,
  executionList,
  executionShow,
  executionResume,
  executionCancel,
  executionRerun,
  executionFork,
  executionDiff,
  scheduleCreate,
  scheduleList,
  scheduleShow,
  scheduleNext,
  scheduleForecast,
  scheduleHistory,
  schedulePause,
  scheduleResume,
  scheduleDelete,
  secretSet,
  secretGet,
  secretList,
  secretDelete,
  secretsRotateKey,
  auditList,
  auditVerify,
  auditExport,
  auditPrune,
  archiveRestore,
  archiveShow,
  mcp,
]
