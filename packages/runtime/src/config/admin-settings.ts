import { z } from 'zod'
import { expecting } from './expectations.ts'
import { flag, hosts, number, port, table } from './setting-types.ts'

/** Settings of the listener for probes and metrics, which every service process has. */
export const admin = table({
  host: z.string().default('127.0.0.1'),
  /** 0 lets the system choose a port; the log line `started` names it. */
  port: port.default(0),
  /** Values of the Host header that are accepted in addition to loopback and `host`. */
  allowed_hosts: hosts,
  /** False answers 404 on `/metrics` and records nothing. */
  metrics: flag.default(true),
  /**
   * Seconds between `/ready` = 503 and the end of the public listener, so that load balancers notice in
   * time.
   */
  drain_delay: expecting(
    'a number of seconds from 0',
    number.pipe(z.number().nonnegative()),
  ).default(0),
})
