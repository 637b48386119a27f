import { isSettled, isTerminal } from '@windlass/domain/states'
import type {
  Command,
  Execution,
  ExecutionsService,
  LogEntry,
  NewEvent,
  Result,
} from '@windlass/proto/windlass/executions/v1/executions'
import { LogGrew } from '@windlass/proto/windlass/signals/v1/signals'
import type { Handlers } from '@windlass/rpc/call'
import { newId } from '@windlass/runtime/ids'
import type { Bus } from '@windlass/runtime/nats/bus'

interface Row {
  execution: Execution
  log: LogEntry[]
  reply_to?: string
}

/** Entries per page of the log, few enough for several pages. */
const PAGE = 3

/** An executions service in memory that accepts every command. */
export class FakeExecutions {
  readonly rows = new Map<string, Row>()
  readonly commands: Command[] = []
  readonly calls = { submit: 0, get: 0, getWithoutPayloads: 0, log: 0 }
  /** `on`: changes are published; `omit`: without their entries; `replies`: on the subject of the sender. */
  readonly signals = { on: true, omit: false, replies: true }
  /** Commands wait for it. */
  held: Promise<unknown> = Promise.resolve()
  readonly #bus: Bus
  readonly #reserved = new Map<string, string>()

  constructor(bus: Bus) {
    this.#bus = bus
  }

  /** Forgets all idempotency keys, as after a day. */
  expireKeys(): void {
    this.#reserved.clear()
  }

  /** The id in the latest command. */
  get last(): string {
    return this.commands.at(-1)?.execution_id ?? ''
  }

  /** Changes an execution and appends to its log, as a worker's checkpoint would. */
  grow(id: string, state: string, events: Partial<NewEvent>[] = []): void {
    const row = this.#row(id)
    const entries = events.map((event, i) => entryOf(event, row.log.length + i + 1))
    row.log.push(...entries)
    const end = events.find(({ type }) => /^WORKFLOW_(COMPLETED|FAILED)$/.test(type ?? ''))
    const output_json = end?.value_json ?? row.execution.output_json
    row.execution = { ...row.execution, state, last_seq: row.log.length, output_json }
    const { on, omit, replies } = this.signals
    const grew = {
      execution_id: id,
      state,
      last_seq: row.log.length,
      entries: omit ? [] : entries,
      omitted: omit,
      ended: !omit && isTerminal(state) ? { ...row.execution, input_json: '' } : undefined,
    }
    const kind = isSettled(state) ? 'settled' : 'step'
    const signal = LogGrew.encode(grew).finish()
    if (on) this.#bus.publishBestEffort(`executions.${id}.events.${kind}`, signal)
    if (on && replies && row.reply_to && kind === 'settled')
      this.#bus.publishBestEffort(`executions.${row.reply_to}.events.reply`, signal)
  }

  get handlers(): Partial<Handlers<typeof ExecutionsService>> {
    return {
      submit: async ({ commands }) => {
        this.calls.submit++
        this.commands.push(...commands)
        await this.held
        return { results: commands.map((command) => this.#apply(command)) }
      },
      reserveKey: async ({ key_id, execution_id: wanted }) => {
        const execution_id = this.#reserved.get(key_id) ?? (wanted || newId())
        this.#reserved.set(key_id, execution_id)
        return { execution_id }
      },
      get: async ({ execution_ids, without_payloads }) => {
        this.calls.get++
        if (without_payloads) this.calls.getWithoutPayloads++
        return { executions: execution_ids.flatMap((id) => this.rows.get(id)?.execution ?? []) }
      },
      log: async ({ execution_id, after_seq }) => {
        this.calls.log++
        const { execution, log } = this.rows.get(execution_id) ?? { execution: undefined, log: [] }
        const rest = log.filter(({ seq }) => seq > after_seq)
        return { execution, entries: rest.slice(0, PAGE), more: rest.length > PAGE }
      },
      list: async () => ({
        executions: [...this.rows.values()].map(({ execution }) => execution),
        total: this.rows.size,
        filtered: true,
      }),
    }
  }

  #apply({ execution_id: id, with_log, body }: Command): Result {
    const create =
      body?.$case === 'fork' ? body.value.create : body?.$case === 'create' && body.value
    if (create) {
      const execution = created(id, create)
      this.rows.set(id, { execution, log: [], reply_to: create.reply_to })
    }
    if (!this.rows.has(id)) return refuse('not_found', `Execution '${id}' not found`)
    const next = body && nextOf(body)
    if (next) this.grow(id, ...next)
    const { execution, log, reply_to } = this.#row(id)
    const value = { ...execution, claim_generation: 7 }
    const echo = this.signals.replies && { reply_to }
    return { body: { $case: 'execution', value }, log: with_log ? log : [], ...echo }
  }

  #row(id: string): Row {
    const row = this.rows.get(id)
    if (!row) throw new Error(`no execution ${id}`)
    return row
  }
}

function nextOf(
  body: NonNullable<Command['body']>,
): [state: string, events: Partial<NewEvent>[]] | undefined {
  switch (body.$case) {
    case 'resume':
      return ['RESUMING', [{ type: 'WORKFLOW_RESUMING', value_json: body.value.body_json }]]
    case 'cancel':
      return ['CANCELLED', [{ type: 'WORKFLOW_CANCELLED' }]]
    case 'claim':
      return ['CLAIMED', [{ type: 'WORKFLOW_CLAIMED' }]]
    case 'checkpoint':
      return [body.value.state, body.value.events]
    default:
      return undefined
  }
}

const entryOf = (event: Partial<NewEvent>, seq: number): LogEntry => ({
  event_id: `e${seq}`,
  type: '',
  source_id: 's',
  name: 'n',
  value_json: 'null',
  time: '2026-01-02T03:04:05Z',
  ...event,
  seq,
})

type Create = Extract<Command['body'], { $case: 'create' }>['value']

const created = (execution_id: string, value: Create): Execution => ({
  execution_id,
  workflow_id: value.workflow_id,
  workflow_namespace: value.workflow_namespace,
  workflow_name: value.workflow_name,
  workflow_version: value.workflow_version,
  state: 'SCHEDULED',
  worker_name: '',
  claim_generation: 0,
  input_json: value.input_json,
  last_seq: 0,
  created_at: new Date('2026-01-02T03:04:05Z'),
  updated_at: new Date('2026-01-02T03:04:05Z'),
  worker_session: '',
})

export const refuse = (kind: string, message: string): Result => ({
  body: { $case: 'refusal', value: { kind, message, details_json: '' } },
  log: [],
})
