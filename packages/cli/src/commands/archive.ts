import { fileURLToPath } from 'node:url'
import type { Command } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { projectFile, toDatabaseEnv } from '../project.ts'

const program = fileURLToPath(projectFile('services/executions/dist/archive-tool.js'))

/** Reads the archive directly, because the executions are no longer in the database. */
export const archiveShow: Command = {
  words: 'archive show',
  args: ['execution_id'],
  about: 'Show an execution that retention has archived in [svc.archive].url, with its log',
  run: async ({ args }, { env }) =>
    execProgram(process.execPath, [program, 'show', '--', ...args], await toDatabaseEnv(env)),
}

/** Writes directly to the database, as retention does. */
export const archiveRestore: Command = {
  words: 'archive restore',
  args: ['execution_id?'],
  about: 'Insert archived executions again, in [svc.postgres].url; they do not run again',
  options: {
    day: { type: 'string', value: 'YYYY-MM-DD', about: 'all that were created on a day, in UTC' },
  },
  async run({ args, options }, { env }) {
    const flags = options.day === undefined ? [] : [`--day=${options.day}`]
    return execProgram(
      process.execPath,
      [program, 'restore', ...flags, '--', ...args],
      await toDatabaseEnv(env),
    )
  },
}
