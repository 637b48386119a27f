import { ConfigError } from './config-error.ts'
import { findWeakness } from './secret-strength.ts'
import type { Settings } from './settings.ts'

interface AuthSecret {
  read(settings: Settings): string | undefined
  minChars: number
  isRequired: boolean
}

/** Secrets of the installation, by the name of their setting. */
const SECRETS = {
  '[svc.security].execution_token_secret': {
    read: ({ security }) => security.execution_token_secret,
    minChars: 32,
    isRequired: true,
  },
  '[svc.security.encryption].encryption_key': {
    read: ({ security }) => security.encryption.encryption_key,
    minChars: 32,
    isRequired: true,
  },
  '[svc.workers].bootstrap_token': {
    read: ({ workers }) => workers.bootstrap_token,
    minChars: 24,
    isRequired: false,
  },
  '[svc.rpc].secret': { read: ({ rpc }) => rpc.secret, minChars: 32, isRequired: false },
} as const satisfies Record<string, AuthSecret>
type SecretName = keyof typeof SECRETS

/** Length of the shortest bootstrap token that is accepted with authentication on. */
export const MIN_BOOTSTRAP_CHARS = SECRETS['[svc.workers].bootstrap_token'].minChars

interface Options {
  /** Secrets that the caller uses: a service need not know the others. `npm start` checks all of them. */
  secrets?: readonly SecretName[]
  log?: { warn(fields: object, message: string): void }
}

/**
 * Throws if authentication is on and one of these secrets is required but unset, or guessable. While
 * authentication is off, a guessable one is logged. Messages never contain a secret. Previous encryption
 * keys are not checked, so that a weak key can be replaced.
 */
export function requireAuthSecrets(
  settings: Settings,
  { secrets = Object.keys(SECRETS) as SecretName[], log }: Options = {},
): void {
  const isOn = settings.security.auth.enabled
  const read = (name: SecretName) => SECRETS[name].read(settings)?.trim() ?? ''
  const missing = secrets.filter((name) => SECRETS[name].isRequired && read(name) === '')
  if (isOn && missing.length > 0)
    throw new ConfigError(
      `authentication is on, which needs ${missing.join(' and ')} to be set, in svc.toml or as ${missing.map(variableOf).join(' and ')}: \`openssl rand -hex 32\` makes a good one`,
    )
  for (const name of secrets) {
    const secret = read(name)
    const weakness = secret === '' ? undefined : findWeakness(secret, SECRETS[name].minChars)
    if (weakness === undefined) continue
    if (isOn) throw new ConfigError(`${name} ${weakness}: ${REMEDY[name]}`)
    log?.warn({ setting: name, weakness }, 'weak secret: refused once authentication is on')
  }
}

/** `[svc.a.b].c` is SVC_A__B__C in the environment. */
const variableOf = (name: string) =>
  name.replace(/[[\]]/g, '').replace('.', '_').replaceAll('.', '__').toUpperCase()

const COMMAND = 'set it to the output of `openssl rand -hex 32`'
const REMEDY: Record<SecretName, string> = {
  '[svc.security].execution_token_secret': COMMAND,
  '[svc.security.encryption].encryption_key': `${COMMAND}, add the present value to [svc.security.encryption].previous_keys, and run \`windlass secrets rotate-key\``,
  '[svc.workers].bootstrap_token': `${COMMAND}, or remove it to have one generated`,
  '[svc.rpc].secret': COMMAND,
}
