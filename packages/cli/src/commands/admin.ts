import { fileURLToPath } from 'node:url'
import type { Command } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { projectFile, toDatabaseEnv } from '../project.ts'

/** Writes to the database directly, because at first no key exists for a call of the API. */
export const adminCreateKey: Command = {
  words: 'admin create-key',
  args: ['subject?'],
  about:
    'Create an API key of a service account (admin) with the role admin, in [svc.postgres].url',
  options: {
    name: { type: 'string', value: 'NAME', about: 'the name of the key' },
    days: { type: 'string', value: 'N', about: 'days until it expires; never without' },
  },
  async run({ args, options }, { env }) {
    const program = fileURLToPath(projectFile('services/identity/dist/create-admin-key.js'))
    const flags = ['name', 'days'].flatMap((option) =>
      options[option] === undefined ? [] : [`--${option}=${options[option]}`],
    )
    return execProgram(
      process.execPath,
      [program, ...flags, '--', ...args],
      await toDatabaseEnv(env),
    )
  },
}
