import { mayDecideCall, mayDecideTask, mayListApprovals, mayReadApprovals } from './approval.ts'
import { bootstrap } from './bootstrap.ts'
import { mayReadConfigs } from './config.ts'
import { mayListExecutions, mayReadExecution } from './execution.ts'
import { mayFollowLists } from './followed-lists.ts'
import { mayReadBoth, mayRepeat } from './repeat.ts'
import type { AccessRequest, AccessRule } from './rule.ts'
import {
  mayCreateSchedule,
  mayListSchedules,
  mayManageSchedule,
  mayReadHistory,
  mayReadSchedule,
} from './schedule.ts'
import { ownExecution, ownWorker } from './worker.ts'
import { seesWorkers } from './worker-visibility.ts'
import { listReadable, mayRegister, mayResume, mayRun } from './workflow.ts'

/** Access rules by the name under which routes declare them. */
export const rules = {
  bootstrap,
  'own worker': ownWorker,
  'own execution': ownExecution,
  'may run': mayRun,
  'may resume': mayResume,
  'may register': mayRegister,
  'sees readable': listReadable,
  'sees workers': seesWorkers,
  'may read schedule': mayReadSchedule,
  'may list schedules': mayListSchedules,
  'may read history': mayReadHistory,
  'may create schedule': mayCreateSchedule,
  'may manage schedule': mayManageSchedule,
  'may read execution': mayReadExecution,
  'may read both executions': mayReadBoth,
  'may repeat execution': mayRepeat,
  'may list executions': mayListExecutions,
  'may follow lists': mayFollowLists,
  'may read configs': mayReadConfigs,
  'may list approvals': mayListApprovals,
  'may read approvals': mayReadApprovals,
  'may decide call': mayDecideCall,
  'may decide task': mayDecideTask,
}

export type Rule = keyof typeof rules

type ParamsOf<R extends Rule> =
  Parameters<(typeof rules)[R]['authorize']>[0] extends AccessRequest<infer P> ? P : never

/** The path parameters that a rule reads. */
export type RuleNeeds<R extends Rule> = keyof ParamsOf<R>

/** The type that a rule resolves to, for the handler. */
export type Resolved<A> = A extends Rule
  ? Awaited<ReturnType<(typeof rules)[A]['authorize']>>
  : undefined

type TakesDeps<R> = R extends AccessRule<never, unknown, infer Deps> ? (deps: Deps) => void : never

/** Dependencies of all rules together; each names its own. */
export type RuleDeps =
  TakesDeps<(typeof rules)[Rule]> extends (deps: infer Deps) => void ? Deps : never

type AnyRule = AccessRule<never, unknown, RuleDeps>

export const ruleOf = (access: string): AnyRule | undefined =>
  (rules as Record<string, AnyRule>)[access]
