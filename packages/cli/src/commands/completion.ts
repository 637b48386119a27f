import { type Command, UsageError } from '../command.ts'
import { completionScript, isShell, SHELLS } from '../completion-script.ts'

/** Creates the command that prints the completion of all commands. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  words: 'completion',
  args: ['shell'],
  about: `Print the script that completes commands and options in a shell: ${SHELLS.join(', ')}`,
  async run({ args: [shell = ''] }, { out }) {
    if (!isShell(shell)) throw new UsageError(`'${shell}' is not one of ${SHELLS.join(', ')}`)
    out(completionScript(shell, commands()))
    return 0
  },
})
