import { Fault } from '@windlass/runtime/faults'

/** Names of principals and namespaces as holders of quotas. */
export const quotaKeys = {
  principal: (issuer: string, subject: string) => `principal ${issuer} ${subject}`,
  namespace: (namespace: string) => `namespace ${namespace}`,
}

/** Refusal of a request above a quota: 503 with Retry-After, since 429 is for rates per client only. */
export function quotaExceeded(name: string, key: string, limit: number): Fault {
  const [kind = '', ...rest] = key.split(' ')
  const who = kind === 'principal' ? 'The principal' : `The namespace '${rest.join(' ')}'`
  return new Fault(
    'unavailable',
    `${who} has reached its quota of ${limit} ${name.replaceAll('_', ' ')}; retry later.`,
  )
}
