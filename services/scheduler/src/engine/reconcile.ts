import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { newId } from '@windlass/runtime/ids'
import { membersOf } from '@windlass/runtime/json/json'
import { readClock } from '@windlass/runtime/postgres/clock'
import type { Tx } from '@windlass/runtime/postgres/db'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import { parseConfig, parseOverlap } from '../domain/config.ts'
import { autoNames } from '../domain/schedule-names.ts'
import * as declarations from '../store/declarations.ts'
import * as schedules from '../store/schedules.ts'
import { reconfigureLocked, toTiming } from './change-locked.ts'
import { findInputProblem, recheckInputs } from './check-inputs.ts'
import type { SchedulerDeps } from './deps.ts'

const RESOLVE_MS = 5_000
const NO_INPUT = 'null'

/**
 * Creates, updates or removes the declared schedule of a workflow according to its latest version. A
 * change by a client remains until a version declares another configuration. The latest version is
 * read under a lock, so the last of several concurrent calls applies the newest version.
 */
export async function reconcile(
  deps: SchedulerDeps,
  workflow: declarations.WorkflowName,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    await declarations.lock(tx, workflow)
    const [known, latest] = await Promise.all([
      declarations.find(tx, workflow),
      resolveLatest(deps, workflow),
    ])
    if (latest?.id === known?.workflow_id) return
    if (latest) {
      await recheckInputs(deps, tx, latest)
      await applyDeclaration(deps, tx, known, latest)
    } else if (known) await removeDeclaration(tx, known)
  })
  deps.wake()
}

async function resolveLatest({ catalog }: SchedulerDeps, workflow: declarations.WorkflowName) {
  const { workflow_namespace: namespace, workflow_name: name } = workflow
  return await catalog
    .resolve({ namespace, name, version: 0 }, { timeoutMs: RESOLVE_MS })
    .catch(undefinedIfNotFound)
}

async function removeDeclaration(tx: Tx, known: declarations.Declaration): Promise<void> {
  if (known.schedule_id) await schedules.remove(tx, known.schedule_id)
  await declarations.remove(tx, known)
}

async function applyDeclaration(
  deps: SchedulerDeps,
  tx: Tx,
  known: declarations.Declaration | undefined,
  latest: Workflow,
): Promise<void> {
  const schedule_config = readDeclaration(latest)
  const existing = known?.schedule_id ? await schedules.lock(tx, known.schedule_id) : undefined
  const declaration = {
    workflow_namespace: latest.namespace,
    workflow_name: latest.name,
    workflow_id: latest.id,
    schedule_config,
    schedule_id: existing?.id,
  }
  if (schedule_config === undefined || !isReadable(deps, latest, schedule_config)) {
    if (existing) await schedules.remove(tx, existing.id)
    declaration.schedule_id = undefined
  } else if (existing) {
    const same = schedule_config === known?.schedule_config
    await schedules.save(
      tx,
      await bindToLatest(deps, tx, existing, {
        latest,
        schedule_config: same ? undefined : schedule_config,
      }),
    )
  } else {
    declaration.schedule_id = await insertDeclared(deps, tx, latest, schedule_config)
    if (!declaration.schedule_id) {
      deps.log.warn(
        { workflow: autoNames(latest.namespace, latest.name) },
        'failed to create declared schedule: both names are taken',
      )
      return
    }
  }
  await declarations.save(tx, declaration)
}

/** Configuration that the workflow declares, or undefined. */
function readDeclaration({ metadata_json }: Workflow): string | undefined {
  const schedule = metadata_json ? membersOf(metadata_json)?.get('schedule') : undefined
  return schedule === 'null' ? undefined : schedule
}

/**
 * True if the configuration is valid. The catalog rejects invalid ones; an older row must not block
 * the others.
 */
function isReadable(
  { log }: SchedulerDeps,
  { namespace, name }: Workflow,
  config: string,
): boolean {
  try {
    parseConfig(config)
    return true
  } catch (error) {
    log.warn({ err: error, workflow: `${namespace}/${name}` }, 'failed to parse declared schedule')
    return false
  }
}

/**
 * Binds the row to the latest version. `schedule_config` is given only if the declaration changed; it then
 * replaces what clients changed, including input and account. Otherwise a schedule that a client changed
 * keeps its owner: the uploader must not run an input that another principal set.
 */
async function bindToLatest(
  deps: SchedulerDeps,
  tx: Tx,
  row: schedules.ScheduleRow,
  { latest, schedule_config }: { latest: Workflow; schedule_config: string | undefined },
): Promise<schedules.ScheduleRow> {
  const workflow_id = latest.id
  if (schedule_config === undefined)
    return { ...row, workflow_id, ...(row.changed_by_client ? {} : toChangedBy(latest)) }
  await schedules.saveInput(tx, row.id, NO_INPUT)
  return {
    ...(await reconfigureLocked(tx, row, schedule_config)),
    overlap: parseOverlap(schedule_config) ?? 'allow',
    run_as_service_account: undefined,
    changed_by_client: false,
    input_problem: findInputProblem(deps, latest, NO_INPUT),
    workflow_id,
    ...toChangedBy(latest),
  }
}

const toChangedBy = ({ created_by, created_by_issuer = '' }: Workflow) => ({
  changed_by: created_by,
  changed_by_issuer: created_by_issuer,
})

/**
 * Returns the id of the new schedule, or undefined if both names are taken. A declared time in the
 * past is accepted.
 */
async function insertDeclared(
  deps: SchedulerDeps,
  tx: Tx,
  latest: Workflow,
  schedule_config: string,
): Promise<string | undefined> {
  const row = {
    ...toTiming(schedule_config, await readClock(tx)),
    workflow_id: latest.id,
    workflow_namespace: latest.namespace,
    workflow_name: latest.name,
    description: 'Declared by the workflow',
    input: NO_INPUT,
    input_problem: findInputProblem(deps, latest, NO_INPUT),
    run_as_service_account: undefined,
    overlap: parseOverlap(schedule_config) ?? ('allow' as const),
    ...toChangedBy(latest),
  }
  for (const name of autoNames(latest.namespace, latest.name)) {
    const inserted = await schedules.insert(tx, {
      ...row,
      id: newId(),
      name: name.normalize('NFC'),
    })
    if (inserted) return inserted.id
  }
  return undefined
}
