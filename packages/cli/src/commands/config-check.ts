import { readRpcTls } from '@windlass/rpc/rpc-tls'
import { requireLoopbackIfAnonymous } from '@windlass/runtime/config/anonymous-network'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import { listEffectiveSettings } from '@windlass/runtime/config/effective-settings'
import { hasWorkerSettings, loadSettings } from '@windlass/runtime/config/load-settings'
import type { Settings } from '@windlass/runtime/config/settings'
import { databaseCertificate } from '@windlass/runtime/tls/client-certificate'
import { readServerTls } from '@windlass/runtime/tls/server-tls'
import { type Command, Failure } from '../command.ts'
import { findUnreadableFiles } from '../tls-files.ts'
import { checkWorkerSettings } from '../worker-program.ts'

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
    const worker = hasWorkerSettings(env) ? await checkWorkerSettings(env) : undefined
    if (worker?.result === 'refused') problems.push(`worker: ${worker.reason}`)
    if (problems.length > 0) throw new Failure(problems.join('\n'))
    err('a service accepts these settings\n')
    if (worker?.result === 'accepted') err('a worker accepts its settings\n')
    if (worker?.result === 'unknown')
      err(`the worker's settings are not checked: ${worker.reason}\n`)
    return 0
  },
}

/** Checks that concern several settings or files; each service repeats those that concern it at its start. */
async function findProblems(settings: Settings): Promise<string[]> {
  const { server, mcp, rpc, nats, redis, postgres } = settings
  const checks: (() => unknown)[] = [
    () => requireAuthSecrets(settings),
    () => requireLoopbackIfAnonymous(settings, '[svc.server].host', server.host),
    () => requireLoopbackIfAnonymous(settings, '[svc.mcp].host', mcp.host),
    () => readServerTls('[svc.server]', server),
    () => readServerTls('[svc.mcp]', mcp),
    () => readRpcTls(rpc),
    () => readClientTls('[svc.nats]', nats),
    () => readClientTls('[svc.redis]', redis),
    () => readServerTls('[svc.postgres].url', databaseCertificate(postgres.url)),
  ]
  const problems = await findUnreadableFiles(settings)
  for (const check of checks) {
    try {
      await check()
    } catch (error) {
      if (!isUnreadableFile(error as Error)) problems.push((error as Error).message)
    }
  }
  return problems
}

const readClientTls = (table: string, { tls_cert, tls_key }: Settings['nats' | 'redis']) =>
  readServerTls(table, { tls_cert, tls_key })

/** `findUnreadableFiles` names these with their settings. */
const isUnreadableFile = ({ cause }: Error) =>
  cause instanceof Error && (cause as NodeJS.ErrnoException).syscall !== undefined
