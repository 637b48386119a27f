import type { Command } from '../command.ts'
import { printMessage } from '../output.ts'
import { sendCommand } from './send-command.ts'

interface DeleteCommand extends Pick<Command, 'words' | 'about'> {
  /** Name of its argument; `name` if absent. */
  arg?: string
  /** Path of the object that the argument names; throws for a name that cannot be one. */
  pathOf(name: string): string
}

/** A command that deletes the object that its argument names, and prints the message of the server. */
export const deleteCommand = ({ arg = 'name', pathOf, ...command }: DeleteCommand): Command =>
  sendCommand({
    ...command,
    args: [arg],
    requestOf: ({ args: [name = ''] }) => ({ method: 'DELETE', path: pathOf(name) }),
    print: (answer, _, context) => printMessage(context, answer),
  })
