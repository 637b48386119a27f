/** What the roles grant that come with the service, as identity has them from its migrations. */
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
