import type { ApiRequest } from '@windlass/api-client/http-client'
import type { z } from 'zod'

/** Sends a request with the rights of the caller; returns the JSON text of the answer. */
export type SendRequest = (request: ApiRequest) => Promise<string>

/** One MCP tool: its arguments, the API request it sends, and the form of its result and its errors. */
export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  name: string
  /** The name for people. */
  title: string
  description: string
  args: Shape
  /** Checks the arguments before anything is sent; throws ArgumentError. */
  request(args: Args<Shape>): ApiRequest
  /** Sends the requests of a tool that needs more than `request`; returns the answer for `result`. */
  collect?(send: SendRequest, args: Args<Shape>): Promise<string>
  /** The members that a result can have in addition to `success` and `error`. */
  output: z.ZodRawShape
  /** The result as JSON text, from the JSON text of the answer. */
  result(answer: string, args: Args<Shape>): string
  /** The error for a status that has a text of its own. */
  errors?: Partial<Record<400 | 404, (args: Args<Shape>, body: string) => string>>
  /** The operation as a gerund, for all other errors: `Error <doing>: <text>`. */
  doing: string
  /** A failed connection has an error text of its own. */
  reportsConnectionError?: true
  /** The API answers it without a credential, so it proves no right. */
  isPublic?: true
  /** The call lasts as long as an execution, so it reports progress. */
  waits?: true
  /**
   * The source of the hints for clients. `runs` executes workflow code, `deletes` also ends executions, `acts` does
   * both, `decides` is an approval.
   */
  effect: 'reads' | 'creates' | 'runs' | 'updates' | 'deletes' | 'acts' | 'decides'
}

type Args<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/**
 * Declares a tool: its functions have the types of its arguments, which the table of all tools does not
 * have.
 */
export const defineTool = <Shape extends z.ZodRawShape>(tool: Tool<Shape>): Tool =>
  tool as unknown as Tool
