import type { Tool } from './tool.ts'
import * as approvals from './tools/approvals.ts'
import * as audit from './tools/audit.ts'
import * as bulk from './tools/bulk.ts'
import * as configUses from './tools/config-uses.ts'
import * as executions from './tools/executions.ts'
import * as inspect from './tools/inspect.ts'
import * as repeats from './tools/repeats.ts'
import * as runs from './tools/runs.ts'
import * as schedules from './tools/schedules.ts'
import * as views from './tools/views.ts'
import * as workerTokens from './tools/worker-tokens.ts'
import * as workers from './tools/workers.ts'
import * as workflows from './tools/workflows.ts'

/** All tools, in the order in which clients see them. */
export const tools: readonly Tool[] = [
  workflows.listWorkflows,
  workflows.listNamespaces,
  workflows.getWorkflowDetails,
  runs.executeWorkflowAsync,
  runs.executeWorkflowSync,
  runs.resumeWorkflowAsync,
  runs.resumeWorkflowSync,
  workflows.uploadWorkflow,
  executions.getExecutionStatus,
  runs.cancelExecution,
  workflows.deleteWorkflow,
  workflows.listWorkflowVersions,
  workflows.getWorkflowVersion,
  executions.listExecutions,
  executions.getExecution,
  executions.listWorkflowExecutions,
  workers.listWorkers,
  workers.getWorker,
  schedules.createSchedule,
  schedules.listSchedules,
  schedules.getSchedule,
  schedules.updateSchedule,
  schedules.pauseSchedule,
  schedules.resumeSchedule,
  schedules.deleteSchedule,
  schedules.getScheduleHistory,
  workers.healthCheck,
  // Not part of the contract.
  repeats.rerunExecution,
  repeats.forkExecution,
  repeats.diffExecutions,
  workerTokens.createWorkerToken,
  workerTokens.listWorkerTokens,
  workerTokens.revokeWorkerToken,
  inspect.searchExecutions,
  inspect.getExecutionStats,
  inspect.getQueue,
  inspect.explainExecution,
  inspect.getExecutionTimeline,
  inspect.getExecutionLog,
  inspect.getExecutionOutputLines,
  inspect.getWorkerHistory,
  bulk.changeExecutions,
  bulk.getBulkProgress,
  views.saveView,
  views.listViews,
  views.deleteView,
  audit.getSecretUses,
  configUses.getConfigUses,
  configUses.getWorkflowConfigs,
  audit.verifyAuditLog,
  approvals.listApprovals,
  approvals.getApproval,
  approvals.approveCall,
  approvals.rejectCall,
]
