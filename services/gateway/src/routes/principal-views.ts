import { objects } from '@windlass/domain/audit'
import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import { NAME_PATTERNS, plainNameOf, subjectOf } from '@windlass/domain/names'
import type { Principal } from '@windlass/proto/windlass/identity/v1/principals'
import { Fault } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { Param } from '../route/fields.ts'

/** A name in a path; one that does not match the grammar is not found. */
const named = (grammar: (text: string) => string | undefined, pattern: string): Param => ({
  schema: z.string().meta({ wire: { type: 'string', pattern } }),
  read(text) {
    const name = grammar(text)
    if (name === undefined) throw new Fault('not_found', 'Not Found')
    return name
  },
})

export const subject = named(subjectOf, NAME_PATTERNS.subject)
export const plainName = named(plainNameOf, NAME_PATTERNS.plain)

/** Subjects, issuers and display names in bodies and queries. */
export const label = z
  .string()
  .refine(
    (text) => subjectOf(text) !== undefined,
    'must be 1 to 255 characters without control characters',
  )
  .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.subject } })

/** Names of roles and keys in bodies. */
export const plain = z
  .string()
  .refine(
    (text) => plainNameOf(text) === text,
    'must be 1 to 128 letters, digits, dots, underscores or hyphens',
  )
  .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.plain } })

export const atIssuer = { issuer: label.default(INTERNAL_ISSUER) }

export const principalType = z.enum(['user', 'service_account'])

export const PrincipalView = z
  .object({
    id: z.string(),
    subject: z.string(),
    type: z.string(),
    external_issuer: z.string(),
    display_name: z.string().nullable(),
    enabled: z.boolean(),
    roles: z.array(z.string()),
  })
  .meta({ id: 'Principal' })

export const viewOf = (principal: Principal) => ({
  ...principal,
  display_name: principal.display_name ?? null,
})

export interface Asked {
  params: { subject: string }
  query: { issuer: string }
}

/** Name of the principal in the audit log. */
export const objectOf = ({ params, query }: Asked) =>
  objects.principal(params.subject, query.issuer)

/** The principal that a path and its query name. */
export const refOf = ({ params, query }: Asked) => ({
  subject: params.subject,
  external_issuer: query.issuer,
})
