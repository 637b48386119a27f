import { DEFAULT_PRIORITY, isPriority, PRIORITY_PROBLEM } from '@windlass/domain/priority'
import { problemOfTags } from '@windlass/domain/tags'
import {
  ExecutionsService,
  type Command as Message,
  type NewEvent,
  type Writer as WriterMessage,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Fault, invalid } from '@windlass/runtime/faults'
import type { ClaimHolder } from '../domain/claim-holder.ts'
import type { Execution, PendingEvent } from '../domain/execution.ts'
import { selectRoutingInputs } from '../domain/routing.ts'
import type { Command, ExecutionCommand } from '../engine/command.ts'
import { identifyRequirement, type KnownRequirement } from './requirement.ts'

export interface ParsedCommand extends ExecutionCommand {
  with_log: boolean
  /** Stored before the command is applied. */
  requirement?: KnownRequirement
  /** Time that wakes a parked execution; `WaitClock` makes it a duration before the command is applied. */
  wake_at?: Date | undefined
}

/** Commands that each service may submit. */
const ALLOWED_COMMANDS: Record<string, ReadonlySet<string>> = {
  gateway: new Set([
    'create',
    'fork',
    'claim',
    'confirm_claim',
    'checkpoint',
    'release',
    'resume',
    'cancel',
    'verify',
  ]),
  scheduler: new Set(['create', 'cancel']),
  dispatcher: new Set(['release', 'extend_lease']),
}

/** The service that sent a command, and the verifier of its on-behalf-of tokens. */
export interface CallingService {
  service: string
  verifyCaller: ServiceIdentity['verifyCaller']
}

/** Converts a command message. Throws `forbidden` if the service may not submit this command. */
export function parseCommand({ execution_id, with_log, body }: Message, sender: CallingService) {
  if (body && !ALLOWED_COMMANDS[sender.service]?.has(body.$case))
    throw new Fault('forbidden', `${sender.service} may not submit '${body.$case}'`)
  const as = (command: Command, requirement?: KnownRequirement): ParsedCommand => ({
    execution_id,
    command,
    with_log,
    requirement,
  })
  switch (body?.$case) {
    case 'create':
      return create(execution_id, body.value, verifiedStarter(body.value, sender), as)
    case 'fork':
      return fork(execution_id, body.value, sender, as)
    case 'claim': {
      const { writer, awaits_confirmation } = body.value
      return as({ kind: 'claim', holder: toClaimHolder(writer), awaits_confirmation })
    }
    case 'confirm_claim': {
      const { writer, pending_bytes } = body.value
      return as({ kind: 'confirm_claim', holder: toClaimHolder(writer), pending_bytes })
    }
    case 'release':
      return release(body.value, as)
    case 'extend_lease': {
      const { writer, frame_bytes } = body.value
      return as({ kind: 'extend_lease', holder: toClaimHolder(writer), frame_bytes })
    }
    case 'verify':
      return as({ kind: 'verify', holder: toClaimHolder(body.value.writer) })
    case 'cancel':
      return as({ kind: 'cancel', request_id: body.value.request_id })
    case 'checkpoint': {
      const { writer, events, ...rest } = body.value
      const report = { ...rest, holder: toClaimHolder(writer), events: events.map(toPendingEvent) }
      return as({ kind: 'checkpoint', report })
    }
    case 'resume':
      return resume(body.value, as)
    default:
      throw invalid('A command needs a body.')
  }
}

type As = (command: Command, requirement?: KnownRequirement) => ParsedCommand
type Body<Case> =
  Extract<NonNullable<Message['body']>, { $case: Case }> extends { value: infer V } ? V : never

type VerifiedStarter = Pick<Execution, 'created_by' | 'created_by_issuer'>

/** Returns the verified principal that starts the execution; the anonymous caller needs a valid token too. */
function verifiedStarter(
  { caller }: Body<'create'>,
  { service, verifyCaller }: CallingService,
): VerifiedStarter {
  const starter = verifyCaller(caller, service, ExecutionsService.submit.path)
  if (!starter) throw new Fault('unauthenticated', 'The on-behalf-of token is invalid.')
  return { created_by: starter.subject, created_by_issuer: starter.issuer }
}

function create(execution_id: string, value: Body<'create'>, starter: VerifiedStarter, as: As) {
  const known = identifyRequirement(value.requirement)
  const { requirement, preferred_worker, schedule_id, reply_to, parent_id, tags, ...rest } = value
  const { caller: _, priority, origin_id, ...fields } = rest
  const row = {
    ...fields,
    priority: readPriority(priority),
    ...starter,
    execution_id,
    requirement_id: known.requirement_id,
    preferred_worker: preferred_worker || undefined,
    schedule_id: schedule_id || undefined,
    parent_id: parent_id || undefined,
    origin_id: origin_id || undefined,
    reply_to: readSender(reply_to),
    tags_json: tagsOf(tags),
    routing_inputs: routingInputs(value),
    queue_timeout_ms: queueTimeoutMs(requirement),
  }
  return as({ kind: 'create', row }, known)
}

/** Converts a create that begins with a part of the log of its origin. */
function fork(execution_id: string, value: Body<'fork'>, sender: CallingService, as: As) {
  const { create: created, after_seq } = value
  if (!created?.origin_id) throw invalid('A fork needs an origin.')
  const parsed = create(execution_id, created, verifiedStarter(created, sender), as)
  const { command, requirement } = parsed
  if (command.kind !== 'create') return parsed
  return as({ ...command, row: { ...command.row, fork: { after_seq } } }, requirement)
}

function readPriority(priority = DEFAULT_PRIORITY): number {
  if (!isPriority(priority)) throw invalid(`The priority ${PRIORITY_PROBLEM}.`)
  return priority
}

function tagsOf(tags: Record<string, string>): string | undefined {
  const problem = problemOfTags(tags)
  if (problem) throw invalid(problem)
  return Object.keys(tags).length === 0 ? undefined : JSON.stringify(tags)
}

/** The name becomes one token of a subject. */
const SENDER = /^[\w-]{1,64}$/

export function readSender(reply_to: string): string | undefined {
  if (reply_to !== '' && !SENDER.test(reply_to))
    throw invalid('The name of the sender is malformed.')
  return reply_to || undefined
}

const queueTimeoutMs = (requirement: Requirement | undefined): number | undefined =>
  requirement?.queue_timeout === undefined ? undefined : requirement.queue_timeout * 1_000

function routingInputs({ requirement, input_json }: Body<'create'>): string | undefined {
  const { routing_json } = requirement ?? {}
  return routing_json ? selectRoutingInputs(JSON.parse(routing_json), input_json) : undefined
}

/** A release with neither a time nor an execution queues the execution. */
function release({ writer, park, ...how }: Body<'release'>, as: As): ParsedCommand {
  const { wake_at, wake_on = [] } = park ?? {}
  const waits = wake_at !== undefined || wake_on.length > 0
  const { unclaimed_only, crashed } = how
  const holder = toClaimHolder(writer)
  const condition = waits ? { wake_on } : undefined
  return {
    ...as({ kind: 'release', holder, park: condition, unclaimed_only, crashed }),
    wake_at,
  }
}

function resume({ body_json, target, request_id }: Body<'resume'>, as: As): ParsedCommand {
  if (!target) return as({ kind: 'resume', body_json, request_id })
  const known = identifyRequirement(target.requirement)
  const { workflow_id, workflow_version, requirement } = target
  const { requirement_id } = known
  const queue_timeout_ms = queueTimeoutMs(requirement)
  const onto = { workflow_id, workflow_version, requirement_id, queue_timeout_ms }
  return as({ kind: 'resume', body_json, target: onto, request_id }, known)
}

export function toClaimHolder(writer: WriterMessage | undefined): ClaimHolder {
  if (!writer) throw invalid('The command needs a writer.')
  return writer
}

const toPendingEvent = ({ event_id, ...event }: NewEvent): PendingEvent => ({
  ...event,
  event_id: event_id || undefined,
})
