import { countDependencyFailure } from '../dependency-failures.ts'
import { Fault, unavailable } from '../faults.ts'

/** SQLSTATE read_only_sql_transaction: this server, or this session, accepts no writes. */
export const READ_ONLY = '25006'

/**
 * SQLSTATE classes (PostgreSQL, appendix A) that report the state of the server, not an error of the statement,
 * and READ_ONLY.
 */
const STATES = new RegExp(`^(08|53|55|57|40|${READ_ONLY})`)
const CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'])
/** A certificate of the server or of this client that has expired: a new one is used without a restart. */
const EXPIRED = /^(CERT_HAS_EXPIRED$|ERR_SSL_.*CERTIFICATE_EXPIRED$)/
const MESSAGES =
  /timeout|Connection terminated|Client has encountered a connection error|not queryable/

/**
 * Converts an error of a store that is temporarily unavailable to `unavailable`; undefined for any other
 * error.
 */
export function toOutageFault(error: unknown): Fault | undefined {
  if (!(error instanceof Error) || error instanceof Fault) return undefined
  const { code = '' } = error as { code?: unknown }
  const passing =
    typeof code === 'string' && code !== ''
      ? STATES.test(code) || CODES.has(code) || EXPIRED.test(code)
      : MESSAGES.test(error.message)
  if (!passing) return undefined
  countDependencyFailure('postgres', 'unavailable')
  return unavailable('a required service is unavailable; retry', error)
}

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK_DETECTED = '40P01'

const isOf = (code: string) => (error: unknown) =>
  (error as { code?: unknown } | undefined)?.code === code

/** True if a statement waited for a lock longer than `lock_timeout`. */
export const isLockTimeout = isOf(LOCK_NOT_AVAILABLE)

/** True if the database rolled a transaction back to resolve a deadlock. */
export const isDeadlock = isOf(DEADLOCK_DETECTED)

/**
 * Converts an error about a value that the database cannot store (SQLSTATE class 22), such as NUL in a
 * text, to `unprocessable`.
 */
export function toUnstorableFault(error: unknown): Fault | undefined {
  const { code } = error as { code?: unknown }
  if (typeof code !== 'string' || !code.startsWith('22')) return undefined
  return new Fault('unprocessable', 'a value cannot be stored', {
    cause: error,
    details: {
      problems: [{ loc: ['body'], msg: 'a value cannot be stored', type: 'value_error' }],
    },
  })
}
