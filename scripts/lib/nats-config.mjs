// What each service may say and hear on NATS. Services that are not listed have no business there.
const ANSWERS = '_INBOX.>'

/** `keeps` says that a service makes the stream of events where it is missing; `consumes` are the durable consumers it has there, with what each hears. */
const PERMISSIONS = {
  gateway: {
    publish: ['executions.*.progress'],
    subscribe: ['executions.*.events.*', 'executions.*.progress'],
  },
  catalog: { publish: ['events.catalog.>'], subscribe: [], keeps: true },
  executions: {
    publish: ['executions.*.events.*', 'ready.*', 'workers.>', 'events.executions.>'],
    subscribe: [],
    keeps: true,
    consumes: { 'executions-dispatcher': 'dispatcher.worker_evicted' },
  },
  dispatcher: {
    publish: ['workers.>', 'events.dispatcher.>'],
    subscribe: ['ready.*', 'workers.>'],
    keeps: true,
  },
  scheduler: {
    publish: [],
    subscribe: [],
    keeps: true,
    consumes: {
      'scheduler-executions': 'executions.execution_finished',
      'scheduler-catalog': 'catalog.>',
    },
  },
}

export const NATS_SERVICES = Object.keys(PERMISSIONS)

/**
 * What of JetStream a service may ask for under a prefix: the one stream, and its own consumers. Who may
 * ask for anything could make a stream of what others say, or delete this one.
 */
function jetStream({ keeps, consumes = {} }, prefix) {
  if (!keeps) return []
  const stream = streamUnder(prefix)
  const consumers = Object.entries(consumes).flatMap(([durable, heard]) => [
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${under(prefix, `events.${heard}`)}`,
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
  ])
  return ['$JS.API.INFO', `$JS.API.STREAM.CREATE.${stream}`, ...consumers]
}

/** Where any prefix may be taken, as by tests, any stream may: a star stands for whole words alone. */
const streamUnder = (prefix) => (prefix === '*' ? '*' : prefix ? `EVENTS-${prefix}` : 'EVENTS')

/** A subject as it is called under a prefix ([svc.nats].prefix). */
const under = (prefix, subject) => (prefix ? `${prefix}.${subject}` : subject)

/** The users of the services, each with what it needs and nothing else, as lines of a configuration. */
export const natsUsers = (passwordOf, prefixes = ['']) =>
  NATS_SERVICES.map((service) => {
    const { publish, subscribe } = PERMISSIONS[service]
    const each = (list) => [...new Set(prefixes.flatMap(list))]
    const permissions = {
      publish: each((prefix) => [
        ...publish.map((subject) => under(prefix, subject)),
        ...jetStream(PERMISSIONS[service], prefix),
      ]),
      subscribe: [...each((prefix) => subscribe.map((subject) => under(prefix, subject))), ANSWERS],
    }
    return `{ user: ${service}, password: "${passwordOf(service)}", permissions: ${JSON.stringify(permissions)} }`
  })

/** The configuration of a NATS server: one user who may do everything (`all`: name and password), and one for each service. */
export function natsConfig({ port, store, all, passwordOf, prefixes, host = '127.0.0.1' }) {
  const users = natsUsers(passwordOf, prefixes)
  return [
    `listen: ${host}:${port}`,
    'authorization { users: [',
    `  { user: ${all.user}, password: "${all.password}" }`,
    ...users.map((user) => `  ${user}`),
    '] }',
    `jetstream { store_dir: ${JSON.stringify(store)} }`,
    '',
  ].join('\n')
}
