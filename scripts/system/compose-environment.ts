import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const COMPOSE = new URL('../../deploy/compose.yml', import.meta.url)
/** `${NAME:-default}`, `${NAME:?message}`, `${NAME}`. */
const VARIABLE = /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g

interface Service {
  command?: string[]
  environment?: Record<string, string | number | null>
}

export interface ComposeService {
  /** Name in compose.yml. */
  name: string
  /** The service that its image runs. */
  program: string
  /** Its variables, with a secret of its own for each variable of deploy/.env. */
  env: Record<string, string>
}

/** Reads the services of Windlass in compose.yml with the environment that compose gives each of them. */
export function readComposeServices(): ComposeService[] {
  const { services } = parse(readFileSync(COMPOSE, 'utf8'), { merge: true }) as {
    services: Record<string, Service>
  }
  return Object.entries(services).flatMap(([name, { command = [], environment = {} }]) => {
    const [program = ''] = command
    if (!('SVC_SECURITY__AUTH__ENABLED' in environment)) return []
    // Null: only .env may set it.
    const values = Object.entries(environment).filter(([, value]) => value !== null)
    const env = values.map(([variable, value]) => [variable, substitute(String(value))])
    return [{ name, program, env: Object.fromEntries(env) as Record<string, string> }]
  })
}

const substitute = (text: string) =>
  text.replace(
    VARIABLE,
    (_, name: string, preset?: string) => preset ?? createHash('sha256').update(name).digest('hex'),
  )
