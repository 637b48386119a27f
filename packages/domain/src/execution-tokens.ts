import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Settings } from '@windlass/runtime/config/settings'
import { expiresIn, Signer } from '@windlass/runtime/signed'

/** What a token says: for which execution it speaks, in whose hands, and in whose name that was started. */
export interface ExecutionClaims {
  iss: typeof ISSUER
  scope: 'execution'
  exec_id: string
  worker: string
  generation: number
  /** Who started the execution; empty for nobody. */
  sub: string
  principal_issuer: string
}

/** An execution in the hands of a worker. */
export interface ClaimedExecution {
  execution_id: string
  worker_name: string
  claim_generation: number
  created_by: string
  created_by_issuer: string
}

const ISSUER = 'windlass'

/** Mints the tokens under which workers act for executions, and reads them again. */
export class ExecutionTokens {
  readonly #signer: Signer<ExecutionClaims>
  readonly #lifetimeS: number

  constructor(secret: string, lifetimeS: number) {
    this.#signer = new Signer(secret, 'execution token')
    this.#lifetimeS = lifetimeS
  }

  mint(held: ClaimedExecution): string {
    return this.#signer.sign({
      iss: ISSUER,
      scope: 'execution',
      exec_id: held.execution_id,
      worker: held.worker_name,
      generation: held.claim_generation,
      sub: held.created_by,
      principal_issuer: held.created_by_issuer,
      exp: expiresIn(this.#lifetimeS),
    })
  }

  /** What a token says; undefined for every other text, and for a token that has ended. It counts only while the worker holds the execution. */
  verify(token: string): ExecutionClaims | undefined {
    const claims = this.#signer.verify(token)
    return claims?.iss === ISSUER && claims.scope === 'execution' ? claims : undefined
  }
}

/** Under the configured secret, else under one made at the first start and kept in the home directory. */
export async function openExecutionTokens({ security, home }: Settings): Promise<ExecutionTokens> {
  const { execution_token_secret, execution_token_ttl } = security
  const secret =
    execution_token_secret ?? (await readOrCreateSecret(home, 'execution-token-secret'))
  return new ExecutionTokens(secret, execution_token_ttl)
}
