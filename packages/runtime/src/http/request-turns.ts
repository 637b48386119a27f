import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that may wait on a connection for the response to an earlier one. */
const MAX_WAITING = 32

interface LaterRequest {
  res: ServerResponse
  begin: () => void
}

/**
 * Lets the requests of a connection begin one after the other (pipelining). Node hands over all that it has read, so a
 * client that sends many and reads no answer would have all of them handled at once, with all answers in memory.
 * In Node 20, a response whose connection closes before its turn never emits `close`, so what was taken for it
 * would not be released either.
 */
export class RequestTurns {
  readonly #responses = new Map<Socket, ServerResponse>()
  readonly #waiting = new Map<Socket, LaterRequest[]>()
  readonly #onIdle: (socket: Socket) => void

  /** Calls back when all requests of an open connection have been answered. */
  constructor(onIdle: (socket: Socket) => void) {
    this.#onIdle = onIdle
  }

  /** The response with which each connection is occupied; the oldest first. */
  get responses(): ReadonlyMap<Socket, ServerResponse> {
    return this.#responses
  }

  /** True if a request waits on the connection for the one that is being answered. */
  hasNext(socket: Socket): boolean {
    return this.#waiting.has(socket)
  }

  /** Begins a request at once, or when the ones before it have been answered; closes a connection with too many. */
  add(socket: Socket, res: ServerResponse, begin: () => void): void {
    if (!this.#responses.has(socket)) return void this.#begin(socket, { res, begin })
    const waiting = this.#waiting.get(socket) ?? []
    if (waiting.length >= MAX_WAITING) return void socket.destroy()
    waiting.push({ res, begin })
    this.#waiting.set(socket, waiting)
  }

  /** Drops the requests that wait on a connection. */
  forget(socket: Socket): void {
    this.#waiting.delete(socket)
  }

  #begin(socket: Socket, { res, begin }: LaterRequest): void {
    this.#responses.set(socket, res)
    res.once('close', () => this.#next(socket))
    begin()
  }

  /** Lets other connections be served between two requests: answers that are made at once would delay them. */
  #next(socket: Socket): void {
    if (this.hasNext(socket)) return void setImmediate(() => this.#beginNext(socket))
    this.#responses.delete(socket)
    if (socket.writable) this.#onIdle(socket)
  }

  #beginNext(socket: Socket): void {
    const waiting = this.#waiting.get(socket) ?? []
    const next = socket.writable ? waiting.shift() : undefined
    if (!next || waiting.length === 0) this.forget(socket)
    if (next) return void this.#begin(socket, next)
    this.#responses.delete(socket)
    if (socket.writable) this.#onIdle(socket)
  }
}
