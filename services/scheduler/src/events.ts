import type { Event } from '@windlass/proto/windlass/events/v1/events'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Teardown } from '@windlass/runtime/process/teardown'
import type { SchedulerDeps } from './engine/deps.ts'
import { onExecutionFinished } from './engine/execution-results.ts'
import { reconcile } from './engine/reconcile.ts'

/** Consumes durable events. A lost event only delays its effect: polling finds both facts. */
export function consumeEvents(
  bus: Bus,
  deps: SchedulerDeps,
  teardown: Teardown,
  autoSchedules: boolean,
): void {
  const finished = { durable: 'scheduler-executions', subject: 'executions.execution_finished' }
  teardown.add(finished.durable, bus.consumeDurable(finished, onExecutionFinished(deps)))
  if (!autoSchedules) return
  const changed = { durable: 'scheduler-catalog', subject: 'catalog.>' }
  teardown.add(changed.durable, bus.consumeDurable(changed, onWorkflowChanged(deps)))
}

/** Reconciles a workflow after any change of its versions. */
const onWorkflowChanged = (deps: SchedulerDeps) => async (event: Event) => {
  const { body } = event
  if (body?.$case !== 'workflow_changed' && body?.$case !== 'workflow_deleted') return
  const { namespace, name } = body.value
  await reconcile(deps, { workflow_namespace: namespace, workflow_name: name })
}
