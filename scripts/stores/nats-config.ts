// Permissions of each service at NATS (least privilege). Services that are not listed do not use NATS.
const ANSWERS = '_INBOX.>'

interface Permissions {
  publish: string[]
  subscribe: string[]
  /** Creates the event stream if it is missing. */
  keeps?: boolean
  /** Its durable consumers with their subjects. */
  consumes?: Record<string, string>
}

const PERMISSIONS: Record<string, Permissions> = {
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
 * JetStream requests that a service may send under a prefix: for the one stream and its own consumers.
 * With unrestricted access it could record the messages of others or delete the stream.
 */
function jetStream({ keeps, consumes = {} }: Permissions, prefix: string): string[] {
  if (!keeps) return []
  const stream = streamUnder(prefix)
  const consumers = Object.entries(consumes).flatMap(([durable, subject]) => [
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${under(prefix, `events.${subject}`)}`,
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
  ])
  return ['$JS.API.INFO', `$JS.API.STREAM.CREATE.${stream}`, ...consumers]
}

/** The stream under a prefix. If any prefix is allowed, as in tests, any stream is: `*` matches whole tokens only. */
const streamUnder = (prefix: string) =>
  prefix === '*' ? '*' : prefix ? `EVENTS-${prefix}` : 'EVENTS'

/** Adds the prefix of [svc.nats].prefix to a subject. */
const under = (prefix: string, subject: string) => (prefix ? `${prefix}.${subject}` : subject)

/** Returns the users of the services, each with the permissions that it needs, as configuration lines. */
export const natsUsers = (
  passwordOf: (service: string) => string,
  prefixes: string[] = [''],
): string[] =>
  Object.entries(PERMISSIONS).map(([service, granted]) => {
    const { publish, subscribe } = granted
    const each = (list: (prefix: string) => string[]) => [...new Set(prefixes.flatMap(list))]
    const permissions = {
      publish: each((prefix) => [
        ...publish.map((subject) => under(prefix, subject)),
        ...jetStream(granted, prefix),
      ]),
      subscribe: [...each((prefix) => subscribe.map((subject) => under(prefix, subject))), ANSWERS],
    }
    return `{ user: ${service}, password: "${passwordOf(service)}", permissions: ${JSON.stringify(permissions)} }`
  })

interface NatsOptions {
  port: number
  host?: string
  /** Folder of JetStream. */
  store: string
  /** The unrestricted user. */
  all: { user: string; password: string }
  passwordOf: (service: string) => string
  /** Prefixes of the subjects that services may use. */
  prefixes?: string[]
}

/** Returns the configuration of a NATS server: an unrestricted user, and one for each service. */
export function natsConfig({
  port,
  store,
  all,
  passwordOf,
  prefixes,
  host = '127.0.0.1',
}: NatsOptions): string {
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
