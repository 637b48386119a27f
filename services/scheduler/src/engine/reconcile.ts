import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { newId } from '@windlass/runtime/ids'
import { membersOf } from '@windlass/runtime/json/json'
import type { Tx } from '@windlass/runtime/postgres/db'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import { parseConfig, parseOverlap } from '../domain/config.ts'
import { autoNames } from '../domain/names.ts'
import * as declarations from '../store/declarations.ts'
import * as schedules from '../store/schedules.ts'
import { reconfigureLocked, toTiming } from './change-locked.ts'
import type { SchedulerDeps } from './deps.ts'

const RESOLVE_MS = 5_000

/**
 * Brings the schedule that a workflow declares up to date with its latest version: made, changed
 * and removed with it. What a person did to that schedule stands until the next version declares
 * something else. The latest version is read under a lock, so whoever comes last has seen the most.
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
    if (latest) await applyDeclaration(deps, tx, known, latest)
    else if (known) await removeDeclaration(tx, known)
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
      await bindToLatest(tx, existing, latest, same ? undefined : schedule_config),
    )
  } else {
    declaration.schedule_id = await insertDeclared(tx, latest, schedule_config)
    if (!declaration.schedule_id) {
      deps.log.warn({ workflow: autoNames(latest.namespace, latest.name) }, 'both names are taken')
      return
    }
  }
  await declarations.save(tx, declaration)
}

/** The text of the declared schedule, or undefined when the workflow declares none. */
function readDeclaration({ metadata_json }: Workflow): string | undefined {
  const schedule = metadata_json ? membersOf(metadata_json)?.get('schedule') : undefined
  return schedule === 'null' ? undefined : schedule
}

/** The catalog refuses what cannot be read; what slips through must not stop the others. */
function isReadable(
  { log }: SchedulerDeps,
  { namespace, name }: Workflow,
  config: string,
): boolean {
  try {
    parseConfig(config)
    return true
  } catch (error) {
    log.warn({ err: error, workflow: `${namespace}/${name}` }, 'declared schedule not understood')
    return false
  }
}

/** The row bound to its newest version; `schedule_config` only where the declaration changed. */
async function bindToLatest(
  tx: Tx,
  row: schedules.ScheduleRow,
  latest: Workflow,
  schedule_config: string | undefined,
): Promise<schedules.ScheduleRow> {
  const timed =
    schedule_config === undefined
      ? row
      : {
          ...(await reconfigureLocked(tx, row, schedule_config)),
          overlap: parseOverlap(schedule_config) ?? 'allow',
        }
  return { ...timed, workflow_id: latest.id, ...toChangedBy(latest) }
}

const toChangedBy = ({ created_by, created_by_issuer = '' }: Workflow) => ({
  changed_by: created_by,
  changed_by_issuer: created_by_issuer,
})

/** Answers the id of the new schedule, or undefined when both its names are taken. A declared moment that has passed is no error. */
async function insertDeclared(
  tx: Tx,
  latest: Workflow,
  schedule_config: string,
): Promise<string | undefined> {
  const row = {
    ...toTiming(schedule_config, await schedules.readClock(tx)),
    workflow_id: latest.id,
    workflow_namespace: latest.namespace,
    workflow_name: latest.name,
    description: 'Declared by the workflow',
    input: 'null',
    run_as_service_account: undefined,
    overlap: parseOverlap(schedule_config) ?? ('allow' as const),
    ...toChangedBy(latest),
  }
  for (const name of autoNames(latest.namespace, latest.name)) {
    const made = await schedules.insert(tx, { ...row, id: newId(), name: name.normalize('NFC') })
    if (made) return made.id
  }
  return undefined
}
