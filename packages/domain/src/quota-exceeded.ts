import { Fault } from '@windlass/runtime/faults'

/** Names of principals and namespaces in messages about quotas. */
export const quotaKeys = {
  principal: (issuer: string, subject: string) => `principal ${issuer} ${subject}`,
  namespace: (namespace: string) => `namespace ${namespace}`,
}

/** Refuses a request above a quota: 503 with Retry-After, because 429 is only used for rates per client. */
export function quotaExceeded(name: string, key: string, limit: number): Fault {
  const [kind = '', ...rest] = key.split(' ')
  const who = kind === 'principal' ? 'The principal' : `The namespace '${rest.join(' ')}'`
  return new Fault(
    'unavailable',
    `${who} has reached its quota of ${limit} ${name.replaceAll('_', ' ')}; retry later.`,
  )
}
