import { requireLoopbackIfAnonymous } from '@windlass/runtime/config/anonymous-network'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import { listEffectiveSettings } from '@windlass/runtime/config/effective-settings'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import type { Settings } from '@windlass/runtime/config/settings'
import { readServerTls } from '@windlass/runtime/tls/server-tls'
import { type Command, Failure } from '../command.ts'

export const configCheck: Command = {
  words: 'config check',
  args: [],
  about:
    'Check the settings of file and environment and print each with its origin, without secrets',
  options: {
    changed: { type: 'boolean', about: 'only settings that file or environment set' },
  },
  async run({ options }, { env, out, err }) {
    const settings = listEffectiveSettings(env)
    const listed = options.changed
      ? settings.filter(({ origin }) => origin !== 'default')
      : settings
    for (const { path, value, origin } of listed) out(`${path} = ${value}  # ${origin}\n`)
    const problems = await findProblems(loadSettings(env))
    if (problems.length > 0) throw new Failure(problems.join('\n'))
    err('a service accepts these settings\n')
    return 0
  },
}

/** Checks that concern several settings or files; each service repeats those that concern it at its start. */
async function findProblems(settings: Settings): Promise<string[]> {
  const { server, mcp } = settings
  const checks: (() => unknown)[] = [
    () => requireAuthSecrets(settings),
    () => requireLoopbackIfAnonymous(settings, '[svc.server].host', server.host),
    () => requireLoopbackIfAnonymous(settings, '[svc.mcp].host', mcp.host),
    () => readServerTls('[svc.server]', server),
    () => readServerTls('[svc.mcp]', mcp),
  ]
  const problems: string[] = []
  for (const check of checks) {
    try {
      await check()
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  return problems
}
