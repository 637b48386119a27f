// Permissions of each service at Redis (least privilege). Services that are not listed do not use Redis.

// Commands that the client sends before it is ready.
const CLIENT = ['+info', '+ping', '+select']

const RULES: Record<string, string[]> = {
  // Reads cache generations, creates a missing one, counts attempts with one fixed script, and keeps the
  // sessions of the console.
  gateway: [
    '~epoch:*',
    '~rate:*',
    '~console:*',
    '+get',
    '+set',
    '+incrby',
    '+pttl',
    '+eval',
    '+evalsha',
  ],
  identity: ['~epoch:auth', '+set'],
  catalog: ['~epoch:catalog', '+set'],
}

export const REDIS_SERVICES = Object.keys(RULES)

/** Returns the lines of a Redis configuration that create a user for each service with the permissions that it needs. */
export const redisUsers = (passwordOf: (service: string) => string): string[] =>
  Object.entries(RULES).map(([service, rules]) =>
    ['user', service, 'on', `>${passwordOf(service)}`, ...CLIENT, ...rules].join(' '),
  )
