import { createApiCall, serverOptions } from '../api-call.ts'
import type { Command } from '../command.ts'
import { printMessage } from '../output.ts'

interface DeleteCommand extends Pick<Command, 'words' | 'about'> {
  /** Path of the object with this name; throws for a name that cannot be one. */
  pathOf(name: string): string
}

/** A command that deletes the object that its argument names, and prints the message of the server. */
export const deleteCommand = ({ words, about, pathOf }: DeleteCommand): Command => ({
  words,
  about,
  args: ['name'],
  options: serverOptions,
  async run(parsed, context) {
    const request = { method: 'DELETE', path: pathOf(parsed.args[0] ?? '') } as const
    printMessage(context, await createApiCall(parsed, context)(request))
    return 0
  },
})
