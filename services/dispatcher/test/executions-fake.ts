import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import {
  type AwaitWorkRequest,
  type Command,
  type Execution,
  ExecutionsService,
  type Lease,
  type LeaseRequest,
  type LeaseResponse,
  type Offer,
  type RequeueRequest,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import type { Handlers } from '@windlass/rpc/call'
import { RpcServer } from '@windlass/rpc/server'
import { Fault } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { allowAll, testIdentity } from '@windlass/testkit/service-identity'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { newExecution, workflow } from './samples.ts'

/** Number of queued executions that one lease considers. */
const MAX_CANDIDATES = 128

/** Fake executions service with a queue in memory, and a fake catalog that has every workflow. */
export class FakeExecutions {
  readonly leaseCalls: LeaseRequest[] = []
  readonly listCalls: { known_ids: string[] }[] = []
  readonly requeues: RequeueRequest[] = []
  readonly commands: Command[] = []
  /** AwaitWork calls that are open now. */
  readonly waits = new Set<{ offers: Offer[]; answer(leases: Lease[]): void }>()
  readonly held = new Map<string, Execution[]>()
  readonly cancelling = new Map<string, Execution>()
  readonly #queued: { requirement_id: string; execution: Execution }[] = []
  readonly #requirements = new Map<string, Requirement>()
  fetched = 0
  /** Workflows for which the catalog is unavailable. */
  readonly unreachable = new Set<string>()
  /** Set to keep a wait open after it was asked to answer: the assignment then crosses that request. */
  ignoresAnswerNow = false
  /** Set to let every call fail. */
  isDown = false
  /** Set to hold back the answers of leases until the promise resolves. */
  leaseDelay: Promise<unknown> | undefined
  /** Milliseconds within which the first checkpoint claims a lease from the queue; undefined: it has to be claimed. */
  claimMs: number | undefined
  inFlight = 0
  maxInFlight = 0

  require(requirement: Requirement): string {
    const requirement_id = newId()
    this.#requirements.set(requirement_id, requirement)
    return requirement_id
  }

  queue(requirement_id: string, change: Partial<Execution> = {}): Execution {
    const execution = newExecution(change)
    this.#queued.push({ requirement_id, execution })
    return execution
  }

  get queued(): number {
    return this.#queued.length
  }

  hold(worker_name: string, count: number): void {
    const more = Array.from({ length: count }, () => newExecution({ worker_name }))
    this.held.set(worker_name, [...(this.held.get(worker_name) ?? []), ...more])
  }

  /** Starts the service; without AwaitWork it answers like an older version. */
  async listen({ hasAwaitWork }: { hasAwaitWork: boolean }): Promise<string> {
    const server = new RpcServer(pino({ level: 'silent' }), testIdentity('executions'))
    onTestFinished(() => server.stop())
    const { awaitWork: _, ...rest } = unimplemented(ExecutionsService)
    const awaitWork: Handlers<typeof ExecutionsService>['awaitWork'] = (request, { answerNow }) =>
      this.#await(request, answerNow)
    server.serve(
      ExecutionsService,
      {
        ...rest,
        ...((hasAwaitWork ? { awaitWork } : {}) as { awaitWork: typeof awaitWork }),
        lease: async (request) => this.#lease(request),
        submit: async ({ commands }) => {
          this.#requireUp()
          this.commands.push(...commands)
          return { results: commands.map(() => ({ body: undefined, log: [] })) }
        },
        requeue: async (request) => {
          this.#requireUp()
          this.requeues.push(request)
          const lost = this.held.get(request.worker_name)?.splice(0) ?? []
          return { requeued: lost.length }
        },
        log: async ({ execution_id }) => {
          this.#requireUp()
          return { execution: this.cancelling.get(execution_id), entries: [], more: false }
        },
        listReady: async (request) => {
          this.#requireUp()
          this.listCalls.push(request)
          const ids = new Set(this.#queued.map(({ requirement_id }) => requirement_id))
          const requirements = [...ids].map((requirement_id) => ({
            requirement_id,
            requirement: request.known_ids.includes(requirement_id)
              ? undefined
              : this.#requirements.get(requirement_id),
          }))
          return { requirements }
        },
      },
      allowAll(ExecutionsService),
    )
    return `127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 }, [])}`
  }

  async listenCatalog(): Promise<string> {
    const server = new RpcServer(pino({ level: 'silent' }), testIdentity('catalog'))
    onTestFinished(() => server.stop())
    server.serve(
      CatalogService,
      {
        ...unimplemented(CatalogService),
        getById: async ({ id }) => {
          this.fetched++
          if (this.unreachable.has(id)) throw new Fault('unavailable', 'fake is down')
          return workflow(id)
        },
      },
      allowAll(CatalogService),
    )
    return `127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 }, [])}`
  }

  /** Names of the workers of which an open wait offers a free slot. */
  get offered(): string[] {
    const free = [...this.waits].flatMap(({ offers }) => offers.filter(hasFreeSlot))
    return [...new Set(free.map(({ worker_name }) => worker_name))].sort()
  }

  /**
   * Assigns work through the first wait that offers a free slot of this worker, and counts it in the others, as the
   * real service does; undefined if none does.
   */
  assign(
    worker_name: string,
    change: Partial<Execution> = {},
    claim_ms?: number,
  ): Execution | undefined {
    for (const { offers, answer } of this.waits) {
      const offer = offers.find((one) => one.worker_name === worker_name && hasFreeSlot(one))
      if (!offer) continue
      const { session_id: worker_session } = offer
      const held = { worker_name, worker_session, claim_generation: 1 }
      const execution = newExecution({ ...held, ...change })
      answer([{ execution, log: [], resumed: false, execution_token: '', claim_ms }])
      for (const other of [...this.waits].flatMap((wait) => wait.offers))
        if (other.worker_name === worker_name) other.used++
      return execution
    }
    return undefined
  }

  #await({ offers, wait_ms }: AwaitWorkRequest, answerNow: AbortSignal): Promise<LeaseResponse> {
    this.#requireUp()
    return new Promise((resolve) => {
      const answer = (leases: Lease[]) => {
        clearTimeout(timer)
        this.waits.delete(wait)
        resolve({ leases, loads: [], more: false })
      }
      const wait = { offers, answer }
      const timer = setTimeout(() => answer([]), wait_ms)
      const late = () => void (this.ignoresAnswerNow || answer([]))
      answerNow.addEventListener('abort', late, { once: true })
      this.waits.add(wait)
    })
  }

  #requireUp(): void {
    if (this.isDown) throw new Fault('unavailable', 'fake is down')
  }

  /** Fills the free slots of the offered workers in queue order, as the real service does. */
  async #lease(request: LeaseRequest) {
    this.#requireUp()
    this.maxInFlight = Math.max(this.maxInFlight, ++this.inFlight)
    await new Promise((resolve) => setTimeout(resolve, 5))
    this.inFlight--
    this.leaseCalls.push(request)
    const leases: Lease[] = []
    const asked = new Set(request.offers.flatMap(({ requirement_ids }) => requirement_ids))
    const wanted = this.#queued.filter(({ requirement_id }) => asked.has(requirement_id))
    for (const entry of wanted.slice(0, MAX_CANDIDATES)) {
      const offer = request.offers.find(
        ({ requirement_ids, worker_name, capacity }) =>
          requirement_ids.includes(entry.requirement_id) &&
          (capacity === 0 || (this.held.get(worker_name)?.length ?? 0) < capacity),
      )
      if (!offer) continue
      this.#queued.splice(this.#queued.indexOf(entry), 1)
      const { worker_name } = offer
      const execution = { ...entry.execution, worker_name, claim_generation: 1 }
      this.held.set(worker_name, [...(this.held.get(worker_name) ?? []), execution])
      leases.push({
        execution,
        log: [],
        resumed: false,
        execution_token: '',
        claim_ms: this.claimMs,
      })
    }
    const loads = request.offers.map(({ worker_name }) => ({
      worker_name,
      used: this.held.get(worker_name)?.length ?? 0,
    }))
    await this.leaseDelay
    return { leases, loads, more: wanted.length > MAX_CANDIDATES }
  }
}

const hasFreeSlot = ({ capacity, used }: Offer): boolean => capacity === 0 || used < capacity

/** Handlers that refuse every rpc of a service. */
function unimplemented<S extends object>(service: S): Handlers<S> {
  const refuse = async () => {
    throw new Fault('invalid', 'not implemented by the fake')
  }
  return Object.fromEntries(
    Object.keys(service).map((rpc) => [rpc, refuse]),
  ) as unknown as Handlers<S>
}
