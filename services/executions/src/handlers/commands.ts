import {
  ExecutionsService,
  type Command as Message,
  type NewEvent,
  type Writer as WriterMessage,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Fault, invalid } from '@windlass/runtime/faults'
import type { Change, Command } from '../command.ts'
import type { Draft } from '../domain/execution.ts'
import { inputsFor } from '../domain/routing.ts'
import type { Writer } from '../domain/writer.ts'
import type { KnownRequirement } from '../requirement.ts'
import { identify } from '../requirement.ts'

export interface Parsed extends Change {
  with_log: boolean
  /** What has to be known before the command can be applied. */
  requirement?: KnownRequirement
}

/** Which commands are the business of which service. */
const BUSINESS: Record<string, ReadonlySet<string>> = {
  gateway: new Set(['create', 'claim', 'checkpoint', 'release', 'resume', 'cancel', 'verify']),
  scheduler: new Set(['create', 'cancel']),
  dispatcher: new Set(['release']),
}

/** Who says who asks: a member of the cluster, and what it may be believed. */
export interface Sender {
  service: string
  believe: ServiceIdentity['verifyCaller']
}

/** A command of the wire as the door takes it. */
export function parse({ execution_id, with_log, body }: Message, sender: Sender): Parsed {
  if (body && !BUSINESS[sender.service]?.has(body.$case))
    throw new Fault('forbidden', `${sender.service} may not ask for ${body.$case}`)
  const as = (command: Command, requirement?: KnownRequirement): Parsed => ({
    execution_id,
    command,
    with_log,
    requirement,
  })
  switch (body?.$case) {
    case 'create':
      return create(execution_id, body.value, starterOf(body.value, sender), as)
    case 'claim':
      return as({ kind: 'claim', writer: writerOf(body.value.writer) })
    case 'release':
      return as({ kind: 'release', writer: writerOf(body.value.writer) })
    case 'verify':
      return as({ kind: 'verify', writer: writerOf(body.value.writer) })
    case 'cancel':
      return as({ kind: 'cancel', request_id: body.value.request_id })
    case 'checkpoint': {
      const { writer, state, output_json, events } = body.value
      const report = { writer: writerOf(writer), state, output_json, events: events.map(draft) }
      return as({ kind: 'checkpoint', report })
    }
    case 'resume':
      return resume(body.value, as)
    default:
      throw invalid('a command without a body')
  }
}

type As = (command: Command, requirement?: KnownRequirement) => Parsed
type Body<Case> =
  Extract<NonNullable<Message['body']>, { $case: Case }> extends { value: infer V } ? V : never

interface Starter {
  created_by: string
  created_by_issuer: string
}

/** In whose name it is started. Without the word of who sent it nothing is, not even for nobody. */
function starterOf({ caller }: Body<'create'>, { service, believe }: Sender): Starter {
  const starter = believe(caller, service, ExecutionsService.submit.path)
  if (!starter) throw new Fault('unauthenticated', 'the statement of who asks is not genuine')
  return { created_by: starter.subject, created_by_issuer: starter.issuer }
}

function create(execution_id: string, value: Body<'create'>, starter: Starter, as: As): Parsed {
  const known = identify(value.requirement)
  const { requirement, preferred_worker, schedule_id, caller: _, ...rest } = value
  const row = {
    ...rest,
    ...starter,
    execution_id,
    requirement_id: known.requirement_id,
    preferred_worker: preferred_worker || undefined,
    schedule_id: schedule_id || undefined,
    routing_inputs: routingInputs(value),
    queue_timeout_ms: queueTimeoutMs(requirement),
  }
  return as({ kind: 'create', row }, known)
}

const queueTimeoutMs = (requirement: Requirement | undefined): number | undefined =>
  requirement?.queue_timeout === undefined ? undefined : requirement.queue_timeout * 1_000

function routingInputs({ requirement, input_json }: Body<'create'>): string | undefined {
  const { routing_json } = requirement ?? {}
  return routing_json ? inputsFor(JSON.parse(routing_json), input_json) : undefined
}

function resume({ body_json, target, request_id }: Body<'resume'>, as: As): Parsed {
  if (!target) return as({ kind: 'resume', body_json, request_id })
  const known = identify(target.requirement)
  const { workflow_id, workflow_version, requirement } = target
  const { requirement_id } = known
  const queue_timeout_ms = queueTimeoutMs(requirement)
  const onto = { workflow_id, workflow_version, requirement_id, queue_timeout_ms }
  return as({ kind: 'resume', body_json, target: onto, request_id }, known)
}

export function writerOf(writer: WriterMessage | undefined): Writer {
  if (!writer) throw invalid('a command without its writer')
  return writer
}

const draft = ({ event_id, ...event }: NewEvent): Draft => ({
  ...event,
  event_id: event_id || undefined,
})
