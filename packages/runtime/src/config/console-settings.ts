import { z } from 'zod'
import { flag, list, seconds, table } from './setting-types.ts'

/** The web console. */
export const consoleSettings = table({
  /** Serves the web console at /console/. */
  enabled: flag.default(true),
  /** Seconds without use after which a sign-in ends, and its maximum age. */
  session_idle_timeout: seconds.default(43_200),
  session_max_age: seconds.default(604_800),
  /** Set by `npm start`: the address at which it kills its workers for the demonstration; empty: none. */
  demo_url: z.string().default(''),
  oidc: table({
    /** Lets people sign in at an OIDC issuer, with the authorization code flow. */
    enabled: flag.default(false),
    /** Absent: the issuer in [svc.security.auth.oidc]. */
    issuer: z.string().default(''),
    client_id: z.string().default(''),
    /** Absent: a public client, which proves itself by PKCE alone. */
    client_secret: z.string().min(1).optional(),
    scopes: list.default(['openid', 'profile']),
    /** Name of the issuer on the button; absent: its host. */
    name: z.string().default(''),
  }),
})
