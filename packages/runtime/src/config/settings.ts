import { z } from 'zod'
import { admin } from './admin-settings.ts'
import { consoleSettings } from './console-settings.ts'
import { expecting } from './expectations.ts'
import { archive, interval, retention } from './retention-settings.ts'
import { server } from './server-settings.ts'
import {
  count,
  file,
  flag,
  hosts,
  list,
  MEBIBYTE,
  number,
  port,
  rate,
  seconds,
  table,
} from './setting-types.ts'
import { telemetry } from './telemetry-settings.ts'

const listen = table({
  host: z.string().default('127.0.0.1'),
  /** The gRPC port of this process; with 0 the system chooses one. */
  port: port.default(0),
})

/** Keys with which services authenticate each other (ADR 12). */
const rpc = table({
  secret: z.string().min(16).optional(),
  /** Instead of the secret: the keys that this service shares with each other service, and no others. */
  keys: list.default([]),
  tls_ca: file,
  tls_cert: file,
  tls_key: file,
  tls_server_name: z.string().min(1).default('windlass'),
})

/** Addresses of the services, `host:port`, one for each replica. */
const services = table({
  identity: list.default(['127.0.0.1:20101']),
  catalog: list.default(['127.0.0.1:20102']),
  executions: list.default(['127.0.0.1:20103']),
  dispatcher: list.default(['127.0.0.1:20104']),
  scheduler: list.default(['127.0.0.1:20105']),
  /** Base URLs of the dispatchers' worker streams. */
  dispatcher_streams: list.default(['http://127.0.0.1:20114']),
})

const workers = z
  .strictObject({
    bootstrap_token: z.string().optional(),
    register_rate_limit: rate.default('30/minute'),
    heartbeat_interval: seconds.default(10),
    /** Three intervals unless set. */
    heartbeat_timeout: seconds.optional(),
    eviction_grace_period: seconds.default(10),
    /** Seconds without use after which a session ends; its worker registers again. */
    session_idle_timeout: seconds.default(86_400),
    /** Age at which a session ends, in seconds since its worker registered; renewals do not prolong it. 0: none. */
    session_max_age: count.default(0),
    /** Read by workers and the command line, not by the server. */
    server_url: z.string().optional(),
  })
  .prefault({})
  .transform((workers) => ({
    ...workers,
    heartbeat_timeout: workers.heartbeat_timeout ?? workers.heartbeat_interval * 3,
  }))

/** Limits for each principal and each namespace; 0 is none. */
const quotas = table({
  principal_event_streams: count.default(10_000),
  namespace_event_streams: count.default(0),
  principal_waiting_runs: count.default(10_000),
  namespace_waiting_runs: count.default(0),
  principal_uploads_per_hour: count.default(10_000),
  namespace_uploads_per_hour: count.default(0),
  principal_keys: count.default(1_000),
  principal_schedules: count.default(10_000),
  namespace_schedules: count.default(0),
  principal_queued_executions: count.default(1_000_000),
  namespace_queued_executions: count.default(0),
  /** Inputs of queued executions, in bytes as stored. */
  principal_queued_bytes: count.default(8_192 * MEBIBYTE),
  namespace_queued_bytes: count.default(0),
  /** Maximum number of executions in a chain of nested runs, without the outermost one. */
  max_nesting: count.default(32),
})

const executions = table({
  claim_timeout: seconds.default(10),
  cancel_timeout: seconds.default(60),
  max_attempts: count.default(5),
  /** Values of the log of one execution; 0: no limit. */
  max_log_bytes: count.default(128 * MEBIBYTE),
  resume_version: z.enum(['newest', 'pinned']).default('newest'),
})

const security = table({
  execution_token_secret: z.string().min(1).optional(),
  execution_token_ttl: seconds.default(86_400),
  /** Patterns with `*`; in these namespaces the starter of an execution decides none of its approvals. */
  protected_namespaces: list.default([]),
  /** Secrets and configs that a running workflow may use; unset: by the age of the installation. */
  secrets: z.enum(['declared', 'scoped', 'uploader']).optional(),
  auth: table({
    enabled: flag.default(false),
    api_keys: table({
      /** For keys that are created without a lifetime; 0: they do not expire. */
      default_lifetime_days: count.pipe(z.int().max(36_500)).default(0),
      /** Applies to existing keys too; 0: none. */
      max_lifetime_days: count.pipe(z.int().max(36_500)).default(0),
    }),
    oidc: table({
      enabled: flag.default(false),
      issuer: z.string().default(''),
      audience: z.string().default(''),
      default_user_roles: list.optional(),
      /** Other hosts from which the issuer's keys may be read. */
      jwks_hosts: list.default([]),
      jwks_cache_ttl: seconds.default(3600),
      clock_skew: expecting(
        'a number of seconds from 0',
        number.pipe(z.number().nonnegative()),
      ).default(30),
      /** Refuses ID tokens: only access tokens call an API. */
      require_access_token: flag.default(false),
      /** Longest time since a token was issued; then `iat` is required. */
      max_token_age: seconds.optional(),
      /** `name` or `name=value` of claims that a token must have. */
      required_claims: list.default([]),
      /** Clients (`azp`, else `client_id`) whose tokens are accepted; empty: any. */
      authorized_parties: list.default([]),
      /** Deprecated by the contract; read and ignored. */
      roles_claim: z.string().optional(),
    }),
  }),
  encryption: table({
    encryption_key: z.string().min(1).optional(),
    /** Used only to decrypt, during the rotation of keys. */
    previous_keys: list.pipe(z.array(z.string().min(1)).max(8)).default([]),
  }),
})

/**
 * Every setting of every service, with its default. `[svc.<table>].<key>` in svc.toml,
 * SVC_<TABLE>__<KEY> in the environment. Times are in seconds.
 */
export const Settings = table({
  /** Contains what the server creates for itself, such as the bootstrap token. */
  home: z.string().default('.windlass/home'),
  server,
  listen,
  admin,
  rpc,
  services,
  postgres: table({
    /** May name several hosts, separated by commas: the one that accepts writes is used (postgres/writable-host.ts). */
    url: z.string().default('postgres://postgres@127.0.0.1:5432/postgres'),
    /** URL of the owner of the schemas, for migrations only; `url` then names the role of the service. */
    admin_url: z.string().optional(),
    max_connections: expecting('a whole number from 2', count.pipe(z.int().min(2))).default(10),
  }),
  nats: table({
    url: z.string().default('nats://127.0.0.1:4222'),
    /** Prefix of every subject, for systems that share a server. */
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_-]*$/, 'must hold letters, digits, _ and - only')
      .default(''),
    /** Copies of the stream of events in a NATS cluster. */
    replicas: expecting('a whole number from 1 to 5', count.pipe(z.int().min(1).max(5))).default(1),
    /** Authority of the server's certificate, and a client certificate; for tls:// URLs. */
    tls_ca: file,
    tls_cert: file,
    tls_key: file,
  }),
  redis: table({
    url: z.string().default('redis://127.0.0.1:6379'),
    /** Authority of the server's certificate, and a client certificate; for a rediss:// URL. */
    tls_ca: file,
    tls_cert: file,
    tls_key: file,
  }),
  catalog: table({
    max_workflow_upload_bytes: count.default(MEBIBYTE),
    /** Modules whose `workflow` and `task` decorators are recognized. */
    sdk_modules: list.default(['windlass', 'flux']),
  }),
  workers,
  quotas,
  executions,
  retention,
  archive,
  telemetry,
  dispatcher: table({ stream_host: z.string().default('127.0.0.1'), stream_port: port.default(0) }),
  scheduling: table({
    auto_schedule_enabled: flag.default(true),
    catchup_window: seconds.default(3600),
  }),
  security,
  console: consoleSettings,
  audit: table({
    /** Entries in addition to those of changes: secrets that workers get, then runs and resumes too. */
    level: z.enum(['changes', 'secrets', 'runs']).default('secrets'),
    /** Seconds between signed checkpoints of the chain, while entries are added. */
    checkpoint_interval: interval.default(3600),
  }),
  mcp: table({
    name: z.string().default('windlass'),
    host: z.string().default('127.0.0.1'),
    port: port.default(8080),
    /** Files (PEM) for TLS on the MCP port; read again when they change. */
    tls_cert: file,
    tls_key: file,
    server_url: z.string().default('http://127.0.0.1:8000'),
    /** Values of the Host header that are accepted in addition to those of `server`, loopback and `host`. */
    allowed_hosts: hosts,
    /**
     * Gives clients session ids, with which their cancellations over HTTP find their requests. Every release accepts the
     * ids but those before this setting: turn it on when no replica runs one of them.
     */
    session_ids: flag.default(false),
    transport: z.enum(['streamable-http', 'stdio']).default('streamable-http'),
  }),
})
export type Settings = z.output<typeof Settings>
