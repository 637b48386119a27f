import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import { type Command, Failure } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { findHomeDir, projectFile } from '../project.ts'

export const serverStart: Command = {
  words: 'server start',
  args: [],
  about: 'Start the whole system on this machine, as npm start does',
  isPassThrough: true,
  isGroupDefault: true,
  run: ({ args }, { env }) =>
    execProgram(
      process.execPath,
      [
        '--import',
        projectFile('scripts/bootstrap.mjs').href,
        fileURLToPath(projectFile('scripts/start.ts')),
        ...args,
      ],
      env,
    ),
}

export const serverBootstrapToken: Command = {
  words: 'server bootstrap-token',
  args: [],
  about: 'Print the token that workers register with',
  options: {
    home: { type: 'string', value: 'DIR', about: 'the home directory of the server' },
  },
  async run({ options }, { env, out }) {
    const configured = loadSettings(env).workers.bootstrap_token?.trim()
    out(`${configured || readBootstrapToken(String(options.home ?? (await findHomeDir(env))))}\n`)
    return 0
  },
}

function readBootstrapToken(home: string): string {
  const path = join(home, 'bootstrap-token')
  let token: string
  try {
    token = readFileSync(path, 'utf8').trim()
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code
    if (why !== 'ENOENT') throw new Failure(`cannot read ${path}: ${(error as Error).message}`)
    throw new Failure(`${path} does not exist; the server creates it at its first start`)
  }
  if (token === '')
    throw new Failure(
      `${path} is empty; restore the token, or remove the file and restart the server`,
    )
  return token
}
