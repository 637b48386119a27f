// What each service may do at Redis. Services that are not listed have no business there.

// What the client asks before it is ready.
const CLIENT = ['+info', '+ping', '+select']

const RULES = {
  // It reads epochs, writes one anew that is missing, and counts tries, by a script that does no more.
  gateway: ['~epoch:*', '~rate:*', '+get', '+set', '+incrby', '+pttl', '+eval', '+evalsha'],
  identity: ['~epoch:auth', '+set'],
  catalog: ['~epoch:catalog', '+set'],
}

export const REDIS_SERVICES = Object.keys(RULES)

/** The lines of a Redis configuration that make a user for each service, with what it needs and nothing else. */
export const redisUsers = (passwordOf) =>
  REDIS_SERVICES.map((service) =>
    ['user', service, 'on', `>${passwordOf(service)}`, ...CLIENT, ...RULES[service]].join(' '),
  )
