import type { ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'
import { type Problem, unprocessable } from '@windlass/runtime/faults'
import { elementsOf, stringOf } from '@windlass/runtime/json/json'
import { membersOnce } from './members.ts'

const MAX_ITEMS = 1_000
/** Below the default limit of a NATS message, 1 MiB. */
const MAX_MESSAGE_LENGTH = 262_144

/** Reads the progress items from a body of checked JSON. */
export function readProgress(text: string, time: string): ProgressItem[] {
  const elements = elementsOf(text) ?? wrong(['body'], 'must be an array', 'list_type')
  if (elements.length > MAX_ITEMS) wrong(['body'], `more than ${MAX_ITEMS} items`, 'too_long')
  return elements.map((element, i) => {
    const members =
      membersOnce(element, ['body', i]) ?? wrong(['body', i], 'must be an object', 'object_type')
    const text = (name: string) =>
      stringOf(members.get(name)) ?? wrong(['body', i, name], 'must be a string', 'string_type')
    return {
      task_id: text('task_id'),
      task_name: text('task_name'),
      value_json: members.get('value') ?? 'null',
      time,
    }
  })
}

/** Splits items into chunks that fit a message each; an item that fits no message is dropped. */
export function inMessages(items: readonly ProgressItem[]): ProgressItem[][] {
  const messages: ProgressItem[][] = []
  let room = 0
  for (const item of items) {
    const length = item.value_json.length + item.task_id.length + item.task_name.length
    if (length > MAX_MESSAGE_LENGTH) continue
    if (length > room) {
      messages.push([])
      room = MAX_MESSAGE_LENGTH
    }
    messages.at(-1)?.push(item)
    room -= length
  }
  return messages
}

function wrong(loc: Problem['loc'], msg: string, type: string): never {
  throw unprocessable({ loc, msg, type })
}
