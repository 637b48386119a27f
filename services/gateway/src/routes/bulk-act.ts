import { createHash } from 'node:crypto'
import { isTerminal } from '@windlass/domain/states'
import { toVisibilityMessage, type Visibility } from '@windlass/domain/visibility'
import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import type { ExecutionRow } from '@windlass/proto/windlass/executions/v1/history'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { type Caller, hasPermission } from '../access/caller.ts'
import { denied, type Resolves, requireRunPermission } from '../access/workflow.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { MAX_KEY_LENGTH, requireKeyLength, resolveIdempotencyKey } from './idempotency.ts'
import { checkInput, createOf, type RepeatDeps } from './repeat-command.ts'
import type { Search } from './search-query.ts'

export type BulkDeps = RepeatDeps & Resolves & { settings: Settings }

export const BULK_ACTIONS = ['cancel', 'resume', 'rerun', 'fork'] as const

export interface BulkAct {
  action: (typeof BULK_ACTIONS)[number]
  /** JSON text: answer of a resume, or another input; absent: null, or that of the execution. */
  input_json: string | undefined
  version: number | undefined
  after_seq: number
  /** Idempotency-Key of the whole act; each execution gets a key of its own. */
  key: string | undefined
}

const MAX_BULK = 10_000
const PAGE = 1_000

/** Executions that an act applies to, newest first, and the number of matches that it does not apply to. */
interface BulkSet {
  rows: ExecutionRow[]
  left_out: number
}

/** True if the action can be applied in this state. */
const APPLIES: Record<BulkAct['action'], (state: string) => boolean> = {
  cancel: (state) => !isTerminal(state),
  resume: (state) => state === 'PAUSED',
  rerun: () => true,
  fork: () => true,
}

/**
 * Reads the executions that match a filter and that the caller may read. Throws `unprocessable` if there
 * are more than MAX_BULK.
 */
export async function collectSet(
  { history }: BulkDeps,
  visible: Visibility,
  { search, action }: { search: Search; action: BulkAct['action'] },
): Promise<BulkSet> {
  const matches: ExecutionRow[] = []
  let cursor = ''
  do {
    const request = { ...search, limit: PAGE, offset: 0, cursor }
    const page = await orUpgrade(
      history.search({ ...request, visible: toVisibilityMessage(visible) }),
    )
    matches.push(...page.rows)
    cursor = page.next_cursor
    if (matches.length > MAX_BULK || page.total > MAX_BULK || (page.cut && !page.total_exact))
      throw tooMany()
  } while (cursor !== '')
  const rows = matches.filter(({ state }) => APPLIES[action](state))
  return { rows, left_out: matches.length - rows.length }
}

const tooMany = () =>
  unprocessable({
    loc: ['body', 'filter'],
    msg: `matches more than ${MAX_BULK} executions, or too many to count: narrow it`,
    type: 'too_long',
  })

const runOf = ({ workflow_namespace, workflow_name }: ExecutionRow) =>
  `workflow:${workflow_namespace}:${workflow_name}:run`

/** True if the caller may act on the execution, unless its version requires more. */
export const mayAct = (caller: Caller, row: ExecutionRow): boolean =>
  hasPermission(caller, runOf(row))

/** Applies an act to one execution. Throws the refusal. */
export async function applyAct(
  deps: BulkDeps,
  act: BulkAct,
  { caller, row }: { caller: Caller; row: ExecutionRow },
): Promise<void> {
  if (!mayAct(caller, row)) throw denied([runOf(row)])
  const { execution_id } = row
  const submit = (body: Command['body'], id = execution_id) =>
    deps.executions.submit({ execution_id: id, with_log: false, body })
  if (act.action === 'cancel') {
    await submit({ $case: 'cancel', value: { request_id: newId() } })
    return
  }
  const workflow = await workflowOf(deps, act, row)
  await requireRunPermission(caller, workflow, deps)
  if (act.action === 'resume') {
    const { id: workflow_id, version: workflow_version, requirement } = workflow
    const isNewest = deps.settings.executions.resume_version === 'newest'
    const target = isNewest ? { workflow_id, workflow_version, requirement } : undefined
    const body_json = act.input_json ?? 'null'
    const request_id = resumeIdOf(act, caller, row)
    await submit({ $case: 'resume', value: { body_json, request_id, target } })
    return
  }
  const execution = await deps.executions.get(execution_id)
  const request = { caller, execution, workflow, input_json: act.input_json, tags: row.tags }
  await checkInput(deps, { ...request, ctx: keyOf(act, row) })
  const action = [act.action, execution_id, String(act.after_seq)]
  const created = await createOf(deps, { ...request, ctx: keyOf(act, row), action })
  const { execution_id: id, value: create } = created
  const fork = { create, after_seq: act.after_seq }
  await submit(
    act.action === 'rerun' ? { $case: 'create', value: create } : { $case: 'fork', value: fork },
    id,
  )
}

function workflowOf(deps: BulkDeps, { action, version }: BulkAct, row: ExecutionRow) {
  const { workflow_namespace: namespace, workflow_name: name, workflow_version } = row
  const isNewest = action === 'resume' && deps.settings.executions.resume_version === 'newest'
  return deps.resolveWorkflow(namespace, name, isNewest ? 0 : (version ?? workflow_version))
}

/** The key of one execution of an act: a repeated act does not start it again. */
const keyOf = ({ key }: Pick<BulkAct, 'key'>, { execution_id }: { execution_id: string }) => ({
  header: () => (key === undefined ? undefined : `${key}/${execution_id}`),
})

/** Characters of the key of an act; a slash and an id follow in the key of each execution. */
const MAX_ACT_KEY = MAX_KEY_LENGTH - 33

/**
 * Id of the resume of one execution: a repeated act does not resume it again, at a pause that it has reached since.
 */
function resumeIdOf({ key }: BulkAct, { issuer, subject }: Caller, { execution_id }: ExecutionRow) {
  if (key === undefined) return newId()
  const request = JSON.stringify(['bulk resume', issuer, subject, key, execution_id])
  return createHash('sha256').update(request).digest('hex').slice(0, 32)
}

/**
 * Leaves out the executions that the same act has started: it is repeated, and they match its filter too. Throws
 * `unprocessable` if the key is too long.
 */
export async function withoutStarted(
  { executions }: BulkDeps,
  { action, key }: Pick<BulkAct, 'action' | 'key'>,
  { rows, caller }: { rows: readonly ExecutionRow[]; caller: Caller },
): Promise<ExecutionRow[]> {
  if (key === undefined || action === 'cancel' || action === 'resume') return [...rows]
  requireKeyLength(key, MAX_ACT_KEY)
  const isStartedByAct = async ({ origin_id, ...row }: ExecutionRow) => {
    if (!origin_id) return false
    const workflow = { namespace: row.workflow_namespace, name: row.workflow_name }
    const ctx = keyOf({ key }, { execution_id: origin_id })
    const started = await resolveIdempotencyKey(ctx, { workflow, caller, body: '', executions })
      .then(({ execution_id }) => execution_id)
      .catch(undefinedIfDeleted)
    return started === row.execution_id
  }
  const kept: ExecutionRow[] = []
  for (let i = 0; i < rows.length; i += CHECKED_AT_ONCE) {
    const some = rows.slice(i, i + CHECKED_AT_ONCE)
    const isStarted = await Promise.all(some.map(isStartedByAct))
    kept.push(...some.filter((_, k) => !isStarted[k]))
  }
  return kept
}

const CHECKED_AT_ONCE = 50

/** The execution of the key was deleted by retention, so it is none of the rows. */
function undefinedIfDeleted(error: unknown): undefined {
  if (error instanceof Fault && error.kind === 'conflict') return undefined
  throw error
}
