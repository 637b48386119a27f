import type { ApiRequest } from '@windlass/api-client/http-client'
import { createApiCall, serverOptions } from '../api-call.ts'
import type { Command, CommandContext, CommandOption, ParsedArguments } from '../command.ts'
import { jsonOption, printJson } from '../output.ts'

interface SendCommand extends Pick<Command, 'words' | 'args' | 'about'> {
  options?: Record<string, CommandOption>
  /** The request of these arguments; throws for arguments that make none. */
  requestOf(parsed: ParsedArguments): ApiRequest
  /** Prints the answer; without it, and with --json, the answer is printed unchanged. */
  print?(answer: string, parsed: ParsedArguments, context: CommandContext): void
}

/** A command that sends one request and prints its answer. */
export const sendCommand = ({
  options = {},
  requestOf,
  print,
  ...command
}: SendCommand): Command => ({
  ...command,
  options: { ...options, ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const answer = await createApiCall(parsed, context)(requestOf(parsed))
    if (print === undefined || parsed.options.json) printJson(context, answer)
    else print(answer, parsed, context)
    return 0
  },
})
