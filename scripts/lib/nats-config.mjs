// What each service may say and hear on NATS. Services that are not listed have no business there.
const JETSTREAM = ['$JS.API.>', '$JS.ACK.>']
const ANSWERS = '_INBOX.>'

const PERMISSIONS = {
  gateway: {
    publish: ['executions.*.progress'],
    subscribe: ['executions.*.events.*', 'executions.*.progress', ANSWERS],
  },
  catalog: { publish: ['events.catalog.>', ...JETSTREAM], subscribe: [ANSWERS] },
  executions: {
    publish: ['executions.*.events.*', 'ready.*', 'workers.>', 'events.executions.>', ...JETSTREAM],
    subscribe: [ANSWERS],
  },
  dispatcher: {
    publish: ['workers.>', 'events.dispatcher.>', ...JETSTREAM],
    subscribe: ['ready.*', 'workers.>', ANSWERS],
  },
  scheduler: { publish: JETSTREAM, subscribe: [ANSWERS] },
}

export const NATS_SERVICES = Object.keys(PERMISSIONS)

const OF_THE_SERVER = new Set([...JETSTREAM, ANSWERS])

/** Subjects as they are called under each of these prefixes ([svc.nats].prefix). */
const under = (prefixes, subjects) =>
  prefixes.flatMap((prefix, i) =>
    subjects
      .filter((subject) => i === 0 || !OF_THE_SERVER.has(subject))
      .map((subject) => (prefix && !OF_THE_SERVER.has(subject) ? `${prefix}.${subject}` : subject)),
  )

/** The users of the services, each with what it needs and nothing else, as lines of a configuration. */
export const natsUsers = (passwordOf, prefixes = ['']) =>
  NATS_SERVICES.map((service) => {
    const { publish, subscribe } = PERMISSIONS[service]
    const permissions = {
      publish: under(prefixes, publish),
      subscribe: under(prefixes, subscribe),
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
