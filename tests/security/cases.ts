import type { AuthSystem, RequestSpec } from './auth-system.ts'

/** The expected response: a status, or a status and the body. */
export type Expected = number | [status: number, body: unknown]

/** Number and name of a case, its request, and the expected response. */
export type Case = [name: string, ask: RequestOf, expected: Expected]

type RequestOf = (
  auth: AuthSystem,
) => (RequestSpec & { what?: string }) | Promise<RequestSpec & { what?: string }>

const detail = (status: number, text: string): Expected => [status, { detail: text }]

/** The refusals of the contract, by their numbers in the test plan. */
export const b1 = detail(401, 'Authorization token required')
export const b2 = detail(401, "Unsupported authorization scheme. Use 'Bearer <token>'.")
export const b3 = detail(401, 'Invalid or expired token')
export const b4 = detail(401, 'OIDC token validation failed')
export const b5 = (permission: string): Expected =>
  detail(403, `Permission denied: requires '${permission}'`)
export const b6 = (...missing_permissions: string[]): Expected => [
  403,
  { detail: { message: 'Authorization denied', missing_permissions } },
]
export const unknownPrincipal = detail(401, 'Principal not provisioned')
export const twoHeaders = detail(400, 'Duplicate Authorization header')
