import type { Command } from './command.ts'
import { adminAfterRestore, adminCreateKey, adminReviewAnonymous } from './commands/admin.ts'
import { approvalApprove, approvalList, approvalReject, approvalShow } from './commands/approval.ts'
import { archiveRestore, archiveShow } from './commands/archive.ts'
import { auditList, auditVerify } from './commands/audit.ts'
import { auditExport, auditPrune } from './commands/audit-export.ts'
import { authCheck, authTestToken } from './commands/auth.ts'
import { executionBulk, executionBulkProgress } from './commands/bulk.ts'
import { completionCommand } from './commands/completion.ts'
import { configDelete, configGet, configList, configSet } from './commands/config.ts'
import { configCheck } from './commands/config-check.ts'
import { configUses, workflowConfigs } from './commands/config-uses.ts'
import {
  executionCancel,
  executionList,
  executionResume,
  executionShow,
} from './commands/execution.ts'
import { executionFollow } from './commands/execution-follow.ts'
import {
  auditCheckpoints,
  auditHead,
  auditKeys,
  executionExplain,
  executionLog,
  executionLogs,
  executionStats,
  executionTimeline,
  queueShow,
  workerHistory,
  workerList,
  workerShow,
} from './commands/inspect.ts'
import { keyCreate, keyList, keyRevoke } from './commands/key.ts'
import { mcp } from './commands/mcp.ts'
import { me } from './commands/me.ts'
import {
  principalCreate,
  principalDelete,
  principalDisable,
  principalEnable,
  principalGrantRole,
  principalList,
  principalRevokeRole,
  principalShow,
  principalUpdate,
} from './commands/principal.ts'
import { executionDiff, executionFork, executionRerun } from './commands/repeat.ts'
import {
  roleClone,
  roleCreate,
  roleDelete,
  roleList,
  roleShow,
  roleSimulate,
  roleUpdate,
} from './commands/role.ts'
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
import { scheduleUpdate } from './commands/schedule-update.ts'
import {
  secretDelete,
  secretGet,
  secretList,
  secretSet,
  secretsRotateKey,
} from './commands/secret.ts'
import { secretUses } from './commands/secret-uses.ts'
import { serverBootstrapToken, serverStart } from './commands/server.ts'
import { sessionList, sessionRevoke } from './commands/session.ts'
import { executionStep } from './commands/step.ts'
import { viewDelete, viewList, viewSave } from './commands/view.ts'
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
import {
  namespaceList,
  workflowDelete,
  workflowShow,
  workflowVersions,
} from './commands/workflow-read.ts'

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
  workerList,
  workerShow,
  workerHistory,
  workerEndSession,
  workerTokensCreate,
  workerTokensList,
  workerTokensRevoke,
  queueShow,
  workflowUpload,
  workflowDiff,
  workflowList,
  workflowShow,
  workflowVersions,
  namespaceList,
  workflowRun,
  workflowStatus,
  workflowDelete,
  executionList,
  executionShow,
  executionStep,
  executionFollow,
  executionExplain,
  executionTimeline,
  executionLog,
  executionLogs,
  executionStats,
  executionResume,
  executionCancel,
  executionRerun,
  executionFork,
  executionDiff,
  executionBulk,
  executionBulkProgress,
  approvalList,
  approvalShow,
  approvalApprove,
  approvalReject,
  viewList,
  viewSave,
  viewDelete,
  scheduleCreate,
  scheduleList,
  scheduleShow,
  scheduleNext,
  scheduleForecast,
  scheduleHistory,
  scheduleUpdate,
  schedulePause,
  scheduleResume,
  scheduleDelete,
  secretSet,
  secretGet,
  secretList,
  secretUses,
  secretDelete,
  secretsRotateKey,
  configSet,
  configGet,
  configList,
  configUses,
  configDelete,
  workflowConfigs,
  me,
  authCheck,
  authTestToken,
  principalList,
  principalShow,
  principalCreate,
  principalUpdate,
  principalEnable,
  principalDisable,
  principalDelete,
  principalGrantRole,
  principalRevokeRole,
  keyList,
  keyCreate,
  keyRevoke,
  roleList,
  roleShow,
  roleCreate,
  roleClone,
  roleUpdate,
  roleSimulate,
  roleDelete,
  sessionList,
  sessionRevoke,
  auditList,
  auditHead,
  auditCheckpoints,
  auditKeys,
  auditVerify,
  auditExport,
  auditPrune,
  archiveRestore,
  archiveShow,
  mcp,
  completionCommand(() => commands),
]
