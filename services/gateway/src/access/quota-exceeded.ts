import { Fault } from '@windlass/runtime/faults'

/** Refusal of a request above a quota: 503 with Retry-After, since 429 is for rates per client only. */
export const quotaExceeded = (name: string, key: string, limit: number) => {
  const [kind = '', ...rest] = key.split(' ')
  const who = kind === 'principal' ? 'The principal' : `The namespace '${rest.join(' ')}'`
  return new Fault(
    'unavailable',
    `${who} has reached its quota of ${limit} ${name.replaceAll('_', ' ')}; retry later.`,
  )
}
