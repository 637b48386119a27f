import { fileURLToPath } from 'node:url'
import type { Command } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { projectFile, toDatabaseEnv } from '../project.ts'

/** It speaks to the database, so that it works before anybody may speak to the server. */
export const adminCreateKey: Command = {
  words: 'admin create-key',
  args: ['subject?'],
  about: 'Make an API key of a service account (admin) with the role admin, in [svc.postgres].url',
  options: {
    name: { type: 'string', value: 'NAME', about: 'the name of the key' },
    days: { type: 'string', value: 'N', about: 'how long it is good for; for ever without' },
  },
  async run({ args, options }, { env }) {
    const program = fileURLToPath(projectFile('services/identity/dist/create-admin-key.js'))
    const given = ['name', 'days'].flatMap((option) =>
      options[option] === undefined ? [] : [`--${option}=${options[option]}`],
    )
    return execProgram(
      process.execPath,
      [program, ...given, '--', ...args],
      await toDatabaseEnv(env),
    )
  },
}
