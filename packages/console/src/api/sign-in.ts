import { read } from './server.ts'

/** The ways to sign in at this server. */
export interface SignInOptions {
  /** An issuer, and the path at which its sign-in begins; null: API keys only. */
  oidc: { name: string; start: string } | null
}

export const getSignInOptions = (signal?: AbortSignal) =>
  read<SignInOptions>('/console/sign-in', {}, signal)
