import type { Settings } from '@windlass/runtime/config/settings'
import { VERSION } from '@windlass/runtime/version'
import { z } from 'zod'
import { type Caller, hasPermission } from '../access/caller.ts'
import { hasDemo } from '../clients/demo-control.ts'
import { json } from '../route/body.ts'
import { MAX_PAGE, text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { ME } from './examples.ts'

type Deps = { settings: Settings }

const count = z.int().min(0)

const Me = z
  .object({
    /** `anonymous` while authentication is off. */
    subject: z.string(),
    /** Issuer in whose namespace `subject` is a name; null while authentication is off. */
    issuer: z.string().nullable(),
    roles: z.array(z.string()),
    /** Granted permissions, sorted; `*` stands for one segment, and at the end for all that follow. */
    permissions: z.array(z.string()),
    server_version: z.string(),
    features: z.object({
      /** False: everyone who reaches the server may do everything. */
      authentication: z.boolean(),
      oidc: z.boolean(),
      /** True: `POST /demo/crash-worker` kills the workers, as in the system of `npm start`. */
      demo: z.boolean(),
    }),
    limits: z.object({
      /** Bytes of a request body, uploads excepted. */
      max_body_bytes: count,
      /** Levels of nesting in a JSON body. */
      max_json_depth: count,
      /** Bytes of the source file of an upload. */
      max_workflow_upload_bytes: count,
      /** Objects of one page of a list. */
      max_page: count,
      /** Permissions of one `POST /auth/check`. */
      max_permission_checks: count,
    }),
  })
  .meta({ id: 'Me', examples: [ME] })

export const getMe = route('get', '/me', {
  summary: 'Show the caller, its rights, and what this server offers',
  access: 'authenticated',
  returns: Me,
  async handle({ caller }, { settings }: Deps) {
    return { ...identityOf(caller), ...offerOf(settings) }
  },
})

const identityOf = ({ subject, issuer, roles = [], permissions }: Caller) => ({
  subject: permissions.kind === 'all' ? 'anonymous' : subject,
  issuer: permissions.kind === 'all' ? null : (issuer ?? null),
  roles: [...roles].sort(),
  permissions: permissions.kind === 'all' ? ['*'] : [...permissions.granted].sort(),
})

const offerOf = (settings: Settings) => {
  const {
    server,
    catalog,
    security: { auth },
  } = settings
  return {
    server_version: VERSION,
    features: {
      authentication: auth.enabled,
      oidc: auth.enabled && auth.oidc.enabled,
      demo: hasDemo(settings),
    },
    limits: {
      max_body_bytes: server.max_body_bytes,
      max_json_depth: server.max_json_depth,
      max_workflow_upload_bytes: catalog.max_workflow_upload_bytes,
      max_page: MAX_PAGE,
      max_permission_checks: MAX_CHECKS,
    },
  }
}

const MAX_CHECKS = 200
const MAX_PERMISSION_CHARS = 1_024

const CheckRequest = z
  .strictObject({
    permissions: z.array(text(MAX_PERMISSION_CHARS).min(1)).max(MAX_CHECKS),
  })
  .meta({ id: 'CheckRequest', examples: [{ permissions: ['workflow:team:hello:run'] }] })

const CheckResult = z
  .object({ results: z.array(z.object({ permission: z.string(), allowed: z.boolean() })) })
  .meta({
    id: 'CheckResult',
    examples: [{ results: [{ permission: 'workflow:team:hello:run', allowed: true }] }],
  })

/** A check only compares text: it does not reveal if the objects that permissions name exist. */
export const checkPermissions = route('post', '/auth/check', {
  summary: 'Check which of up to 200 permissions the caller has, in the order of the request',
  access: 'authenticated',
  body: json(CheckRequest, { size: 'names' }),
  returns: CheckResult,
  async handle({ body: { permissions }, caller }) {
    const results = permissions.map((permission) => ({
      permission,
      allowed: hasPermission(caller, permission),
    }))
    return { results }
  },
})
