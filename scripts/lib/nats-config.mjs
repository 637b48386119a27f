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

/**
 * The configuration of a NATS server: one user who may do everything (`all`: name and password), and
 * one for each service with what it needs and nothing else.
 */
export function natsConfig({ port, store, all, passwordOf }) {
  const users = NATS_SERVICES.map((service) => {
    const permissions = JSON.stringify(PERMISSIONS[service])
    return `{ user: ${service}, password: "${passwordOf(service)}", permissions: ${permissions} }`
  })
  return [
    `listen: 127.0.0.1:${port}`,
    'authorization { users: [',
    `  { user: ${all.user}, password: "${all.password}" }`,
    ...users.map((user) => `  ${user}`),
    '] }',
    `jetstream { store_dir: ${JSON.stringify(store)} }`,
    '',
  ].join('\n')
}
