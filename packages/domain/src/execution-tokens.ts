import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Settings } from '@windlass/runtime/config/settings'
import { expiresIn, Signer } from '@windlass/runtime/signed'

/** Claims of a token: the execution, the claim of its worker, and the principal that started it. */
export interface ExecutionClaims {
  iss: typeof ISSUER
  scope: 'execution'
  exec_id: string
  worker: string
  generation: number
  /** Subject that started the execution; empty for the anonymous caller. */
  sub: string
  principal_issuer: string
  /** Nested runs above the execution; absent from tokens of earlier releases. */
  depth?: number
}

/** An execution with the claim of its worker. */
export interface ClaimedExecution {
  execution_id: string
  worker_name: string
  claim_generation: number
  created_by: string
  created_by_issuer: string
  depth: number
}

const ISSUER = 'windlass'

/** Issues and verifies the tokens under which workers act for executions. */
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
      depth: held.depth,
      exp: expiresIn(this.#lifetimeS),
    })
  }

  /** Claims of a valid token; undefined for any other text. The token is effective only while its claim is current. */
  verify(token: string): ExecutionClaims | undefined {
    const claims = this.#signer.verify(token)
    return claims?.iss === ISSUER && claims.scope === 'execution' ? claims : undefined
  }
}

/** Uses the configured secret, or one that is created at the first start and kept in the home directory. */
export async function openExecutionTokens({ security, home }: Settings): Promise<ExecutionTokens> {
  const { execution_token_secret, execution_token_ttl } = security
  const secret =
    execution_token_secret ?? (await readOrCreateSecret(home, 'execution-token-secret'))
  return new ExecutionTokens(secret, execution_token_ttl)
}
