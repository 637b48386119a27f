import { deriveEventId } from '@windlass/domain/event-id'
import { EVENT_TYPES, isState } from '@windlass/domain/states'
import type { NewEvent } from '@windlass/proto/windlass/executions/v1/executions'
import { type Problem, unprocessable } from '@windlass/runtime/faults'
import { elementsOf, stringOf } from '@windlass/runtime/json/json'
import { membersOnce } from './members.ts'

/** A worker's checkpoint. Payloads are slices of the body. */
export interface Report {
  execution_id: string
  state: string
  output_json: string | undefined
  events: NewEvent[]
  lines_json: string | undefined
}

const MAX_EVENTS = 50_000
const MAX_CHECKPOINTS = 256
/** Below 2^53, as the header of a single checkpoint. */
const GENERATION = /^\d{1,15}$/
/** Repeated events are found by their ids in a database index, which needs short keys. */
const MAX_ID_LENGTH = 256
const MAX_TEXT_LENGTH = 65_536

type Members = Map<string, string>
type Place = (string | number)[]

/**
 * Reads the checked JSON text of a checkpoint, which stands at `place` of the body. Unknown members are
 * ignored; a duplicate of a control member is refused.
 */
export function readCheckpoint(text: string, place: Place = ['body']): Report {
  const members = membersOnce(text, place) ?? wrong(place, 'must be an object', 'object_type')
  for (const name of ['workflow_id', 'workflow_namespace', 'workflow_name'])
    control(members, name, place)
  const state = control(members, 'state', place)
  if (!isState(state)) wrong([...place, 'state'], 'unknown state', 'enum')
  if (members.has('current_worker')) control(members, 'current_worker', place)
  return {
    execution_id: control(members, 'execution_id', place),
    state,
    output_json: members.get('output'),
    events: readEvents(members.get('events'), [...place, 'events']),
    lines_json: members.get('captured_lines'),
  }
}

/** A checkpoint of a batch, with the claim generation that it is sent under. */
export interface BatchedReport extends Report {
  claim_generation: number
  /** W3C `traceparent` of the run; absent: it is not traced. */
  traceparent: string | undefined
}

/** Reads the checked JSON text of a batch of checkpoints, one for each execution. */
export function readCheckpoints(text: string): BatchedReport[] {
  const elements = elementsOf(text) ?? wrong(['body'], 'must be an array', 'list_type')
  if (elements.length > MAX_CHECKPOINTS)
    wrong(['body'], `more than ${MAX_CHECKPOINTS} checkpoints`, 'too_long')
  return elements.map((element, i) => {
    const place: Place = ['body', i]
    const members = membersOnce(element, place) ?? wrong(place, 'must be an object', 'object_type')
    const generation = members.get('claim_generation') ?? missing([...place, 'claim_generation'])
    if (!GENERATION.test(generation))
      wrong([...place, 'claim_generation'], 'must be a whole number', 'int_type')
    const checkpoint = members.get('checkpoint') ?? missing([...place, 'checkpoint'])
    const report = readCheckpoint(checkpoint, [...place, 'checkpoint'])
    const traceparent = members.has('traceparent')
      ? control(members, 'traceparent', place)
      : undefined
    return { ...report, claim_generation: Number(generation), traceparent }
  })
}

function readEvents(text: string | undefined, place: Place): NewEvent[] {
  if (text === undefined) return []
  const elements = elementsOf(text) ?? wrong(place, 'must be an array', 'list_type')
  if (elements.length > MAX_EVENTS) wrong(place, `more than ${MAX_EVENTS} events`, 'too_long')
  return elements.map((element, i) => readEvent(element, [...place, i]))
}

function readEvent(text: string, place: Place): NewEvent {
  const members = membersOnce(text, place) ?? wrong(place, 'must be an object', 'object_type')
  const type = control(members, 'type', place)
  if (!EVENT_TYPES.has(type)) wrong([...place, 'type'], 'unknown type', 'enum')
  const id = members.get('id')
  const given_id = id === undefined || id === 'null' ? '' : control(members, 'id', place)
  if (given_id.length > MAX_ID_LENGTH)
    wrong([...place, 'id'], `longer than ${MAX_ID_LENGTH}`, 'too_long')
  const event = {
    type,
    source_id: control(members, 'source_id', place),
    name: control(members, 'name', place),
    value_json: members.get('value') ?? 'null',
    time: control(members, 'time', place),
  }
  return { ...event, event_id: given_id || deriveEventId(event) }
}

/** Reads a control member: a string that fits a database column. */
function control(members: Members, name: string, place: Place): string {
  const raw = members.get(name)
  if (raw === undefined) return missing([...place, name])
  const value = stringOf(raw)
  if (value === undefined) return wrong([...place, name], 'must be a string', 'string_type')
  if (raw.includes('\\') && /\0|\p{Cs}/u.test(value))
    return wrong([...place, name], 'contains NUL or a lone surrogate', 'string_unicode')
  if (value.length > MAX_TEXT_LENGTH)
    return wrong([...place, name], `longer than ${MAX_TEXT_LENGTH}`, 'too_long')
  return value
}

const missing = (place: Place): never => wrong(place, 'Field required', 'missing')

function wrong(loc: Place, msg: string, type: Problem['type']): never {
  throw unprocessable({ loc, msg, type })
}
