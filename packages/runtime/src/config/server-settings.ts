import { z } from 'zod'
import {
  address,
  count,
  file,
  flag,
  hosts,
  MEBIBYTE,
  port,
  seconds,
  table,
} from './setting-types.ts'

/** The public HTTP API of the gateway; its limits apply to the MCP server, too. */
export const server = table({
  host: z.string().default('127.0.0.1'),
  port: port.default(8000),
  max_body_bytes: count.default(16 * MEBIBYTE),
  max_json_depth: count.default(512),
  /**
   * Maximum bytes of request bodies that a gateway receives and passes on at the same time: in total, and
   * for each principal.
   */
  max_body_bytes_in_flight: count.default(256 * MEBIBYTE),
  max_principal_body_bytes_in_flight: count.default(128 * MEBIBYTE),
  /** Limits of slow requests; a body must arrive within its timeout, and not slower than the rate (bytes a second). */
  headers_timeout: seconds.default(10),
  body_timeout: seconds.default(120),
  min_body_rate: count.default(1_024),
  /**
   * A large answer must be read within this time, plus the time for its size at the rate (bytes a second;
   * 0 for no limit).
   */
  answer_timeout: seconds.default(30),
  min_answer_rate: count.default(16_384),
  /** Connections of one client address that have not sent an authorized request; 0 for no limit. */
  max_pending_connections: count.default(1_024),
  /** Number of trusted proxies in front of the gateway, for the client's address. */
  trusted_proxies: count.default(0),
  /**
   * Address at which browsers reach the gateway, if it differs from `host` and `port`; its path is that of
   * a proxy.
   */
  public_url: address.optional(),
  /** Values of the Host header that are accepted in addition to loopback, `host` and the host of `public_url`. */
  allowed_hosts: hosts,
  /** Files (PEM) for TLS on the public port; read again when they change. */
  tls_cert: file,
  tls_key: file,
  /** Authority of the client certificates that workers must present. */
  client_ca: file,
  /**
   * Workers for which a client certificate is valid: any; the one that its subject or a DNS name of it names;
   * or those whose names begin with such a name and `-`, `.` or `_`.
   */
  client_cert_names: z.enum(['any', 'equal', 'prefix']).default('any'),
  /** Permits gateway and MCP server to listen beyond loopback while authentication is off. */
  allow_anonymous_network: flag.default(false),
})
