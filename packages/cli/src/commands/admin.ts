import { fileURLToPath } from 'node:url'
import type { Command } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { projectFile, toDatabaseEnv } from '../project.ts'

const program = (name: string, service = 'identity') =>
  fileURLToPath(projectFile(`services/${service}/dist/${name}.js`))

/** Writes directly to the database, because no key for a call of the API exists at first. */
export const adminCreateKey: Command = {
  words: 'admin create-key',
  args: ['subject?'],
  about:
    'Create an API key of a service account (admin) with the role admin, in [svc.postgres].url',
  options: {
    name: { type: 'string', value: 'NAME', about: 'the name of the key' },
    days: { type: 'string', value: 'N', about: 'days until it expires (default: never)' },
  },
  async run({ args, options }, { env }) {
    const flags = ['name', 'days'].flatMap((option) =>
      options[option] === undefined ? [] : [`--${option}=${options[option]}`],
    )
    return execProgram(
      process.execPath,
      [program('create-admin-key'), ...flags, '--', ...args],
      await toDatabaseEnv(env),
    )
  },
}

/** Reads and writes the database directly, because identity does not start before all objects are decided. */
export const adminReviewAnonymous: Command = {
  words: 'admin review-anonymous',
  args: ['decision?', 'object?'],
  about:
    'List, confirm or revoke rights that anonymous callers created while authentication was off',
  options: { all: { type: 'boolean', about: 'decide all of them instead of one object' } },
  async run({ args, options }, { env }) {
    const flags = options.all ? ['--all'] : []
    return execProgram(
      process.execPath,
      [program('review-anonymous'), ...flags, '--', ...args],
      await toDatabaseEnv(env),
    )
  },
}

/** Changes the database directly, because no service is running. */
export const adminAfterRestore: Command = {
  words: 'admin after-restore',
  args: [],
  about: 'Prepare a restored database, in [svc.postgres].url, before the services start',
  run: async (_, { env }) =>
    execProgram(
      process.execPath,
      [program('restore-tool', 'executions')],
      await toDatabaseEnv(env),
    ),
}
