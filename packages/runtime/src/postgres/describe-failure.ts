const UNREACHABLE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENOTFOUND', 'ETIMEDOUT'])

/** Returns the message of a failure, for the user of a program that works on the database. */
export function describeFailure(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return UNREACHABLE.has(code ?? '')
    ? `cannot connect to PostgreSQL (${message}); start it, or name another server in SVC_POSTGRES__URL`
    : message
}
