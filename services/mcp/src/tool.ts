import type { ApiRequest } from '@windlass/api-client/http-client'
import type { z } from 'zod'

/** One MCP tool: its arguments, the request it stands for, and how the answer and its errors are told. */
export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  name: string
  description: string
  args: Shape
  /** Checks the arguments before anything is sent; throws Refusal. */
  request(args: Args<Shape>): ApiRequest
  /** The result as JSON text, from the JSON text of the answer. */
  result(answer: string, args: Args<Shape>): string
  /** The error for a status that has a text of its own. */
  errors?: Partial<Record<400 | 404, (args: Args<Shape>, body: string) => string>>
  /** What it was about to do, for errors of any other kind: `Error <doing>: <text>`. */
  doing: string
  /** It says so when there is no connection to the server at all. */
  reportsConnectionError?: true
  /** Whether it changes nothing, changes something, or takes something away. */
  effect: 'reads' | 'changes' | 'deletes'
}

type Args<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/** Declares a tool; its functions see the types of its arguments, the table of all tools does not. */
export const defineTool = <Shape extends z.ZodRawShape>(declared: Tool<Shape>): Tool =>
  declared as unknown as Tool
