/** Permissions of the built-in roles, as the migrations of identity create them. */
export const BUILT_IN_ROLES: Record<string, readonly string[]> = {
  viewer: [
    'workflow:*:*:read',
    'execution:*:read',
    'schedule:*:read',
    'agent:*:read',
    'config:*:read',
    'service:*:read',
  ],
  operator: [
    'workflow:*:*:run',
    'workflow:*:*:read',
    'workflow:*:*:register',
    'workflow:*:*:task:*:execute',
    'workflow:*:*:task:*:approve',
    'schedule:*',
    'execution:*',
    'agent:*:*',
    'config:*:read',
    'config:*:manage',
    'service:*:read',
    'service:*:manage',
  ],
  worker: ['worker:*:*'],
  admin: ['*'],
}
