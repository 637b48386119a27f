import { read } from './server.ts'

/** How people sign in at this server. */
export interface SignInOptions {
  /** An issuer, and where its sign-in begins below the server's address; null: API keys only. */
  oidc: { name: string; start: string } | null
}

export const getSignInOptions = (signal?: AbortSignal) =>
  read<SignInOptions>('/console/sign-in', {}, signal)
